"""A broker that lives by HTTP, KV entries, write permission: and who may do it."""

import io
from pathlib import Path
from typing import Any

import pytest

from signpost_namesrv.http.auth import TOKENS
from signpost_namesrv.routes import removal
from signpost_namesrv.routes.model import BrokerKey

from .conftest import HOLDER, TOKEN, House, OpenHouse

BROKER = "/v1/brokers/c/a/0"
BODY: dict[str, Any] = {
    "address": "10.0.0.1:10911",
    "ttl_ms": 5000,
    "topics": {"T": {"read": 4, "write": 2}, "U": {"perm": 4}},
}


def expire(house: House) -> None:
    """What the server's scan does."""
    silent = removal.expired(house.tables, house.clock())
    leaving = [removal.departure_of(live) for live in silent]
    for _ in removal.remove(house.tables, house.state.policy, leaving, house.clock()):
        pass


async def test_a_broker_lives_and_dies_by_http(house: House) -> None:
    done = await house.send("PUT", BROKER, 201, BODY)
    assert done["first"] is True
    assert done["expires_ms"] == house.clock() + 5000
    route = await house.get("/v1/topics/T/route")
    assert route["brokerDatas"][0]["brokerAddrs"] == {"0": "10.0.0.1:10911"}
    assert (
        route["queueDatas"][0] | {"readQueueNums": 4, "writeQueueNums": 2, "perm": 6}
        == (route["queueDatas"][0])
    )
    life = (await house.get("/v1/brokers/a"))["members"][0]["life"]
    assert life["connected"]["via"] == "http"
    assert life["timeout_ms"] == 5000

    house.clock.ms += 4000
    beaten = await house.send("POST", f"{BROKER}/heartbeat", 200)
    assert beaten["expires_ms"] == house.clock() + 5000
    house.clock.ms += 4000
    expire(house)
    await house.get("/v1/topics/T/route")
    house.clock.ms += 1001
    expire(house)
    await house.get("/v1/topics/T/route", 404)
    problem = await house.send("POST", f"{BROKER}/heartbeat", 404)
    assert "PUT" in problem["detail"]

    await house.send("PUT", BROKER, 201, BODY)
    await house.send("DELETE", BROKER, 204)
    assert house.tables.topics == {}
    assert house.state.stats.departures["unregistered"] == 1
    await house.send("DELETE", BROKER, 404)


async def test_a_second_registration_counts_without_a_data_version(house: House) -> None:
    await house.send("PUT", BROKER, 201, BODY)
    await house.send("PUT", BROKER, 200, {**BODY, "topics": {"T": {"read": 9, "write": 9}}})
    (queues,) = house.tables.topics["T"]
    assert (queues.read, queues.write) == (9, 9)
    assert "U" in house.tables.topics  # left out, and it stays: the rule of the wire


async def test_a_data_version_that_is_the_same_changes_nothing(house: House) -> None:
    version = {"state_version": 0, "timestamp": 5, "counter": 5}
    await house.send("PUT", BROKER, 201, {**BODY, "data_version": version})
    topics = {"T": {"read": 9}, "V": {}}
    await house.send("PUT", BROKER, 200, {**BODY, "data_version": version, "topics": topics})
    assert house.tables.topics["T"][0].read == 4
    assert "V" in house.tables.topics  # one that was missing is put back


async def test_the_rules_of_the_wire_refuse(house: House) -> None:
    problem = await house.send("PUT", BROKER, 409, {**BODY, "topics": {"T": {}}})
    assert problem["type"] == "urn:signpost:problem:single-topic"
    newer = {"state_version": 7, "timestamp": 1, "counter": 1}
    await house.send("PUT", BROKER, 201, {**BODY, "data_version": newer})
    older = {**BODY, "address": "10.0.0.2:10911", "data_version": {**newer, "state_version": 6}}
    problem = await house.send("PUT", BROKER, 409, older)
    assert problem["type"] == "urn:signpost:problem:id-taken"
    assert house.tables.groups["a"].addresses == {0: "10.0.0.1:10911"}


async def test_a_slave_is_told_its_master(house: House) -> None:
    await house.send("PUT", BROKER, 201, {**BODY, "ha_address": "10.0.0.1:10912"})
    slave = {"address": "10.0.0.2:10911"}
    done = await house.send("PUT", "/v1/brokers/c/a/1", 201, slave)
    assert done["master_address"] == "10.0.0.1:10911"
    assert done["ha_address"] == "10.0.0.1:10912"
    assert house.tables.live[BrokerKey("c", "10.0.0.2:10911")].timeout_ms == 120_000


async def test_write_permission_goes_and_comes(house: House) -> None:
    await house.send("PUT", BROKER, 201, BODY)
    path = "/v1/brokers/a/writable"
    assert (await house.send("PUT", path, 200, {"writable": False}))["topics"] == 2
    assert house.tables.topics["T"][0].perm == 4
    await house.send("PUT", path, 200, {"writable": True})
    assert house.tables.topics["T"][0].perm == 6
    await house.send("PUT", "/v1/brokers/none/writable", 404, {"writable": True})


async def test_kv_entries(house: House) -> None:
    path = "/v1/kv/ORDER_TOPIC_CONFIG/a%2Fb"
    await house.get(path, 404)
    entry = {"namespace": "ORDER_TOPIC_CONFIG", "key": "a/b", "value": "broker:4"}
    assert await house.send("PUT", path, 200, {"value": "broker:4"}) == entry
    assert await house.get(path) == entry
    assert await house.get("/v1/kv/ORDER_TOPIC_CONFIG") == {
        "namespace": "ORDER_TOPIC_CONFIG",
        "entries": {"a/b": "broker:4"},
    }
    listed = await house.get("/v1/kv")
    assert listed == {"digest": house.store.digest(), "namespaces": {"ORDER_TOPIC_CONFIG": 1}}
    await house.send("DELETE", path, 204)
    await house.send("DELETE", path, 404)
    await house.get("/v1/kv/none", 404)
    assert house.context.kv_changes == 2


def spoil(folder: Path) -> None:
    folder.rmdir()
    folder.write_text("no folder any more")


async def test_a_kv_entry_that_cannot_be_kept(house: House, tmp_path: Path) -> None:
    spoil(tmp_path / "server-0")
    problem = await house.send("PUT", "/v1/kv/n/k", 507, {"value": "v"})
    assert "kvConfig.json" in problem["detail"]
    await house.get("/v1/kv/n/k", 404)


WRITES = [
    ("PUT", BROKER, BODY),
    ("POST", f"{BROKER}/heartbeat", None),
    ("DELETE", BROKER, None),
    ("PUT", "/v1/brokers/a/writable", {"writable": True}),
    ("PUT", "/v1/kv/n/k", {"value": "v"}),
    ("DELETE", "/v1/kv/n/k", None),
]


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
async def test_writing_needs_a_token(house: House, method: str, path: str, body: Any) -> None:
    for wrong in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": f"Basic {TOKEN}"}):
        problem = await house.send(method, path, 401, body, headers=wrong)
        assert "httpTokenFile" in problem["detail"]
    assert house.tables.revision == 0


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
async def test_writing_is_off_without_tokens(
    open_house: OpenHouse, method: str, path: str, body: Any
) -> None:
    house = await open_house(token_file=None)
    problem = await house.send(method, path, 403, body)
    assert problem["type"] == "urn:signpost:problem:writing-is-off"
    assert "SIGNPOST_HTTP_TOKEN_FILE" in problem["detail"]


def rewrite(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
    else:
        path.write_text(text)


async def test_tokens_rotate(house: House, token_file: Path) -> None:
    app = house.client.app
    assert app is not None
    fresh = {"Authorization": "bearer the-new-token-of-today"}
    await house.send("PUT", "/v1/kv/n/k", 401, {"value": "v"}, headers=fresh)
    rewrite(token_file, f"the-new-token-of-today\n{TOKEN}\n")
    assert app[TOKENS].poll()
    await house.send("PUT", "/v1/kv/n/k", 200, {"value": "v"}, headers=fresh)
    await house.send("PUT", "/v1/kv/n/k", 200, {"value": "v"})
    rewrite(token_file, "the-new-token-of-today\nshort\n")
    assert app[TOKENS].poll()
    assert not app[TOKENS].poll()
    await house.send("PUT", "/v1/kv/n/k", 401, {"value": "v"})
    short = {"Authorization": "Bearer short"}
    await house.send("PUT", "/v1/kv/n/k", 401, {"value": "v"}, headers=short)
    rewrite(token_file, None)
    app[TOKENS].poll()
    await house.send("PUT", "/v1/kv/n/k", 403, {"value": "v"}, headers=fresh)


OPEN = ("/healthz", "/readyz", "/rocketmq/nsaddr", "/rocketmq/nsaddr-x", "/openapi.json")


async def test_reading_can_be_closed(open_house: OpenHouse) -> None:
    house = await open_house(reads_need_token=True)
    for path in ("/v1/status", "/v1/snapshot", "/v1/changes?since=0", "/v1/watch", "/metrics"):
        await house.get(path, 401)
    await house.get("/v1/status", headers=HOLDER)
    for path in OPEN:
        async with house.client.get(path) as response:
            assert response.status == 200


WRONG_BODIES: list[tuple[Any, str]] = [
    ({}, "address"),
    ({**BODY, "address": "nonsense"}, "address"),
    ({**BODY, "ttl_ms": 10}, "ttl_ms"),
    ({**BODY, "topic": {}}, "topic"),
    ({**BODY, "topics": {"T": {"perm": 8}}}, "topics.T.perm"),
    ({**BODY, "topics": {"": {}}}, "topics..[key]"),
    ({**BODY, "topics": {f"t{n}": {} for n in range(2001)}}, "topics"),
    ({**BODY, "data_version": {"state_version": 2**63}}, "data_version.state_version"),
]


@pytest.mark.parametrize(("body", "name"), WRONG_BODIES)
async def test_a_wrong_body_is_told_where(house: House, body: Any, name: str) -> None:
    problem = await house.send("PUT", BROKER, 422, body)
    assert name in [fault["name"] for fault in problem["errors"]]
    assert all(fault["in"] == "body" and fault["remedy"] for fault in problem["errors"])
    assert house.tables.revision == 0


async def test_what_is_no_json_body(house: House) -> None:
    json_type = {**HOLDER, "Content-Type": "application/json"}
    for data, headers, status in (
        (b"{", json_type, 400),
        (b'{"value": "\xff"}', json_type, 400),
        (b'{"value": "v"}', HOLDER, 415),
        (b'{"value": "' + b"x" * (1 << 20) + b'"}', json_type, 413),
    ):
        problem = await house.send(
            "PUT", "/v1/kv/n/k", status, headers=headers, data=io.BytesIO(data)
        )
        assert problem["status"] == status
    problem = await house.send("DELETE", "/v1/kv/n/k", 400, {"x": 1})
    assert "no body" in problem["detail"]


async def test_a_wrong_parameter_is_named_with_its_value_and_the_remedy(house: House) -> None:
    problem = await house.get("/v1/topics?limit=5000", 400)
    assert problem["errors"] == [
        {
            "in": "query",
            "name": "limit",
            "value": "5000",
            "remedy": "Input should be less than or equal to 1000",
        }
    ]
    assert problem["instance"] == "/v1/topics"
    problem = await house.send("DELETE", "/v1/brokers/c/a/minus", 400)
    assert (problem["errors"][0]["in"], problem["errors"][0]["name"]) == ("path", "id")
    problem = await house.get("/v1/topics?prefix=a&prefix=b", 400)
    assert problem["errors"][0]["remedy"] == "give it once"
    problem = await house.get("/v1/topics?pref=a", 400)
    assert "prefix" in problem["errors"][0]["remedy"]
    problem = await house.send("PATCH", "/v1/topics", 405)
    assert problem["title"] == "Method not allowed"
