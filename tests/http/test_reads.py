"""Topics, clusters, brokers, status, health."""

import asyncio
from urllib.parse import quote

import pytest
from yarl import URL

from signpost_namesrv.dispatch.topics import find_route
from signpost_namesrv.wire.bodies import standard_json
from signpost_namesrv.wire.registration import TopicConfig
from tests.support.remoting import parse, plain_body, request, topic_json

from .conftest import House, OpenHouse


async def test_status_counts_and_follows_the_tables(house: House) -> None:
    before = await house.get("/v1/status")
    house.register("a", ["T1", "T2"])
    after = await house.get("/v1/status")
    assert before["identity"] == after["identity"] == house.context.identity
    assert before["digest"] != after["digest"] == str(house.tables.digest)
    assert after["revision"] == house.tables.revision > before["revision"] == 0
    assert after["counts"] == {
        "topics": 2,
        "broker_groups": 1,
        "brokers": 1,
        "clusters": 1,
        "connections": 0,
    }
    assert after["remoting"] == f"127.0.0.1:{house.port}"
    assert after["ready"] is True


@pytest.mark.parametrize("topic", ["%RETRY%group", "a b", "a/b", "ü+?#&", "%25", "T%2FX"])
async def test_a_topic_is_found_by_its_percent_encoded_name(house: House, topic: str) -> None:
    house.register("a", [topic, "other"])
    path = f"/v1/topics/{quote(topic, safe='')}/route"
    async with house.client.get(URL(path, encoded=True)) as response:
        assert response.status == 200, await response.text()
        found = find_route(house.state, topic)
        assert found is not None
        assert await response.read() == standard_json(found)


async def test_a_route_by_zone(house: House) -> None:
    house.register("a", ["T", "U"], zone="z1")
    house.register("b", ["T", "U"], zone="z2")
    route = await house.get("/v1/topics/T/route?zone=z1")
    assert [b["brokerName"] for b in route["brokerDatas"]] == ["a"]
    assert [q["brokerName"] for q in route["queueDatas"]] == ["a"]


async def test_no_route_while_the_server_warms_up(open_house: OpenHouse) -> None:
    house = await open_house(warm=False)
    house.register("a", ["T", "U"])
    problem = await house.get("/v1/topics/T/route", 503)
    assert problem["type"] == "urn:signpost:problem:not-ready"
    assert "not heard yet: b" in problem["detail"]
    ready = await house.get("/readyz", 503)
    assert ready["ready"] is False
    assert "not heard yet: b" in ready["reason"]
    await house.get("/healthz")
    house.register("b", ["T", "U"])
    await house.get("/v1/topics/T/route")
    assert await house.get("/readyz") == {"ready": True, "reason": None}


async def test_not_ready_while_draining(house: House) -> None:
    house.state.draining = True
    assert "draining" in (await house.get("/readyz", 503))["reason"]
    assert await house.get("/healthz") == {"alive": True}


async def test_pages_of_topics_join_up_in_order(house: House) -> None:
    names = [f"topic-{n:04d}" for n in range(250)]
    house.register("a", names[::-1])
    seen: list[str] = []
    after: str | None = ""
    while after is not None:
        page = await house.get("/v1/topics", params={"limit": "99", "after": after})
        assert page["matched"] == 250
        seen += [item["topic"] for item in page["topics"]]
        after = page["next"]
    assert seen == names


async def test_topics_are_filtered(house: House) -> None:
    house.register("a", ["orders", "Payments", "order-log"], cluster="c1")
    house.register("b", {"orders": TopicConfig(None, 4, 8, 4), "x": TopicConfig()}, cluster="c2")

    async def names(query: str) -> list[str]:
        return [item["topic"] for item in (await house.get(f"/v1/topics?{query}"))["topics"]]

    assert await names("prefix=order") == ["order-log", "orders"]
    assert await names("contains=PAY") == ["Payments"]
    assert await names("cluster=c2") == ["orders", "x"]
    assert await names("cluster=none") == []
    assert await names("broker=a&prefix=orders") == ["orders"]
    page = await house.get("/v1/topics?prefix=orders")
    # b's queues can be read from only
    assert page["topics"] == [
        {"topic": "orders", "brokers": ["a", "b"], "read_queues": 20, "write_queues": 16}
    ]


async def test_brokers_tell_their_life(house: House) -> None:
    house.register("a", ["T", "U"], zone="z", timeout_ms=9000, ha_address="10.0.0.1:1")
    house.register("a", [], broker_id=1)
    house.register("other", ["T", "U"], cluster="d")
    house.clock.ms += 1500
    listed = await house.get("/v1/brokers?cluster=c")
    assert [group["name"] for group in listed["brokers"]] == ["a"]
    master, slave = listed["brokers"][0]["members"]
    assert (master["id"], slave["id"]) == (0, 1)
    assert master["life"]["age_ms"] == 1500
    assert master["life"]["timeout_ms"] == 9000
    assert master["life"]["ha_address"] == "10.0.0.1:1"
    assert slave["life"]["timeout_ms"] == 120_000
    one = await house.get("/v1/brokers/a")
    assert one["members"] == listed["brokers"][0]["members"]
    assert one["topics"] == {"total": 2, "readable": 2, "writable": 2}
    assert len((await house.get("/v1/brokers"))["brokers"]) == 2
    assert (await house.get("/v1/brokers/none", 404))["errors"][0]["name"] == "name"


async def test_a_broker_on_the_wire_shows_its_connection(house: House) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
    fields = {"brokerName": "a", "brokerAddr": "10.0.0.1:1", "clusterName": "c", "brokerId": "0"}
    writer.write(request(103, fields, plain_body({name: topic_json(name) for name in "TU"})))
    size = await reader.readexactly(4)
    assert parse(size + await reader.readexactly(int.from_bytes(size, "big"))).code == 0
    (group,) = (await house.get("/v1/brokers"))["brokers"]
    host, port = writer.get_extra_info("sockname")
    assert group["members"][0]["life"]["connected"] == {
        "via": "remoting",
        "peer": f"{host}:{port}",
        "tls": False,
        "certificate_names": [],
    }
    writer.close()
    await writer.wait_closed()


async def test_clusters(house: House) -> None:
    house.register("a", ["T", "U"], cluster="c1", zone="z2")
    house.register("b", [], cluster="c1", broker_id=1, zone="z1")
    house.register("x", ["T", "U"], cluster="c0")
    assert (await house.get("/v1/clusters"))["clusters"] == [
        {"name": "c0", "groups": ["x"], "brokers": 1, "without_master": [], "zones": []},
        {
            "name": "c1",
            "groups": ["a", "b"],
            "brokers": 2,
            "without_master": ["b"],
            "zones": ["z1", "z2"],
        },
    ]


async def test_head_has_no_body(house: House) -> None:
    async with house.client.head("/v1/status") as response:
        assert response.status == 200
        assert await response.read() == b""


async def test_every_answer_has_the_security_headers(house: House) -> None:
    for path in ("/v1/status", "/nothing", "/v1/topics?limit=x", "/metrics", "/v1/snapshot"):
        async with house.client.get(path) as response:
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            assert response.headers["Server"] == "signpost"
            assert "default-src 'none'" in response.headers["Content-Security-Policy"]
            await response.read()
