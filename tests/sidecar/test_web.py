"""The sidecar's HTTP port."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestClient, TestServer

from signpost_namesrv.sidecar.web import make_app
from tests.sidecar.actors import until
from tests.sidecar.conftest import Stage


@pytest.fixture
async def client(stage: Stage) -> AsyncIterator[TestClient]:  # type: ignore[type-arg]
    async with TestClient(TestServer(make_app(stage.sidecar))) as client:
        yield client


async def test_ready_when_registered_somewhere(stage: Stage, client: TestClient) -> None:  # type: ignore[type-arg]
    assert (await client.get("/healthz")).status == 200
    answer = await client.get("/readyz")
    assert (answer.status, await answer.text()) == (
        503,
        "no broker has registered; 3 name servers are known\n",
    )
    await stage.broker.register("T")
    answer = await client.get("/readyz")
    assert (answer.status, await answer.text()) == (
        200,
        "a/0 is registered with 3 of 3 name servers\n",
    )
    await stage.proxies[0].stop()
    await until(lambda: len(stage.sidecar.fleet.up) == 2)
    answer = await client.get("/readyz")
    assert (answer.status, await answer.text()) == (
        200,
        "a/0 is registered with 2 of 3 name servers\n",
    )


async def test_status(stage: Stage, client: TestClient) -> None:  # type: ignore[type-arg]
    await stage.broker.register("T")
    await stage.broker.register("T")
    status = await (await client.get("/v1/status")).json()
    assert status["phase"] == "serving"
    (broker,) = status["brokers"]
    assert (broker["name"], broker["topics"], broker["connected"]) == ("a", 4, True)
    assert [e["address"] for e in status["endpoints"]] == [p.address for p in stage.proxies]
    assert all(e["state"] == "up" and e["brokers"] == 1 for e in status["endpoints"])
    assert status["registrations"]["full"] == status["registrations"]["queries"] == 3
    assert status["registrations"]["bytesSaved"] > 0


async def test_metrics(stage: Stage, client: TestClient) -> None:  # type: ignore[type-arg]
    await stage.broker.register("T")
    lines = (await (await client.get("/metrics")).text()).splitlines()
    first = stage.proxies[0].address
    for line in (
        "signpost_sidecar_ready 1.0",
        f'signpost_sidecar_endpoint_up{{endpoint="{first}"}} 1.0',
        f'signpost_sidecar_endpoint_catch_ups_total{{endpoint="{first}"}} 0.0',
        'signpost_sidecar_registrations_total{kind="full"} 3.0',
        'signpost_sidecar_fan_out_seconds_count{code="REGISTER_BROKER"} 1.0',
    ):
        assert line in lines
    assert any(line.startswith("signpost_sidecar_endpoint_beat_age_seconds") for line in lines)


async def test_draining_by_http(stage: Stage, client: TestClient) -> None:  # type: ignore[type-arg]
    await stage.broker.register("T")
    answer = await client.post("/v1/drain")
    assert (answer.status, await answer.json()) == (200, {"phase": "drained"})
    assert not any(server.brokers() for server in stage.servers)
    answer = await client.get("/readyz")
    assert (answer.status, await answer.text()) == (503, "drained\n")


async def test_draining_is_for_the_loopback(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aiohttp.web.Request.remote", "10.1.2.3")
    async with TestServer(make_app(stage.sidecar)) as server, ClientSession() as session:
        await stage.broker.register("T")
        async with session.post(server.make_url("/v1/drain")) as answer:
            assert answer.status == 403
    assert stage.all_know("T")
