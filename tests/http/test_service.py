"""The port itself: limits, slow clients, stopping; the console's files; metrics."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from signpost_namesrv.http import HttpService
from signpost_namesrv.http.console import add_console
from signpost_namesrv.http.guard import GUARDS, Guards
from signpost_namesrv.http.headers import add_headers

from .conftest import House, OpenHouse

DOCS = Path(__file__).parents[2] / "docs" / "metrics.md"


class Port:
    """The real port of a name server, and a clock for its guards."""

    def __init__(self, service: HttpService, port: int) -> None:
        self.service = service
        self.port = port
        self.time = 0.0
        self.guards: Guards = service._app[GUARDS]
        self.guards.now = lambda: self.time

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def connections(self, count: int) -> None:
        while len(self.guards) != count:  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0)


@pytest.fixture
async def port(open_house: OpenHouse) -> AsyncIterator[Port]:
    house = await open_house(max_connections=2, request_timeout=15.0, write_stall=30.0)
    sock = socket.create_server(("127.0.0.1", 0))
    sock.setblocking(False)
    service = HttpService(house.context)
    opened = Port(service, await service.start(sock))
    yield opened
    await service.stop()


async def test_requests_are_answered_over_one_connection(port: Port) -> None:
    reader, writer = await port.connect()
    for _ in range(3):
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        assert await reader.readexactly(14) == b'{"alive":true}'
        port.time += 14
        port.guards.sweep()
    writer.close()
    await port.connections(0)


async def test_one_too_many_is_closed_at_once(port: Port) -> None:
    first, second = await port.connect(), await port.connect()
    await port.connections(2)
    reader, writer = await port.connect()
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await reader.readexactly(1)
    assert port.guards.refused == 1
    for _, each in (first, second, (reader, writer)):
        each.close()
    await port.connections(0)


async def test_a_request_that_dribbles_in_is_dropped(port: Port) -> None:
    reader, writer = await port.connect()
    await port.connections(1)
    for _ in range(3):
        writer.write(b"GET /healthz HTT"[:5])
        port.time += 5
        assert port.guards.sweep() == 0
    port.time += 0.1
    assert port.guards.sweep() == 1
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await reader.readexactly(1)
    writer.close()
    await port.connections(0)


async def test_a_watcher_is_not_idle_but_one_that_stalls_goes(port: Port) -> None:
    reader, writer = await port.connect()
    writer.write(b"GET /v1/watch HTTP/1.1\r\nHost: x\r\n\r\n")
    await reader.readuntil(b"event: hello")
    port.time += 3600
    assert port.guards.sweep() == 0
    (guard,) = port.guards._all.values()
    guard.pause_writing()
    port.time += 30.1
    assert port.guards.sweep() == 1
    await port.connections(0)
    writer.close()


async def test_stopping_ends_watchers(open_house: OpenHouse) -> None:
    house = await open_house()
    sock = socket.create_server(("127.0.0.1", 0))
    sock.setblocking(False)
    service = HttpService(house.context)
    number = await service.start(sock)
    reader, writer = await asyncio.open_connection("127.0.0.1", number)
    writer.write(b"GET /v1/watch HTTP/1.1\r\nHost: x\r\n\r\n")
    await reader.readuntil(b"event: hello")
    await service.stop()
    assert (await reader.read()).endswith(b"0\r\n\r\n")  # a whole answer, not a torn one
    writer.close()


async def test_headers_are_bounded(port: Port, caplog: pytest.LogCaptureFixture) -> None:
    reader, writer = await port.connect()
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 20_000 + b"\r\n\r\n")
    assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.0 400")
    assert caplog.text == ""  # no traceback for whoever likes to send nonsense
    writer.close()


def furnished(folder: Path) -> web.Application:
    (folder / "index.html").write_text("<!doctype html>")
    (folder / "console.js").write_text("'use strict'")
    (folder / "notes.txt").write_text("not served")
    app = web.Application()
    app.on_response_prepare.append(add_headers)
    add_console(app, folder)
    return app


async def test_the_console_is_served_with_a_strict_policy(tmp_path: Path) -> None:
    async with TestClient(TestServer(furnished(tmp_path))) as client:
        response = await client.get("/")
        assert response.headers["Content-Type"] == "text/html; charset=utf-8"
        policy = response.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        etag = {"If-None-Match": response.headers["ETag"]}
        assert (await client.get("/", headers=etag)).status == 304
        assert (
            (await client.get("/console.js")).headers["Content-Type"].startswith("text/javascript")
        )
        assert (await client.get("/notes.txt")).status == 404


async def metrics(house: House) -> str:
    async with house.client.get("/metrics") as response:
        assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return await response.text()


def value(text: str, sample: str) -> float:
    (found,) = re.findall(rf"^{re.escape(sample)} (\S+)$", text, re.MULTILINE)
    return float(found)


async def test_metrics_tell_what_happened(house: House) -> None:
    house.register("a", ["T", "U"])
    house.clock.ms += 45_000
    house.register("b", ["T", "U"])
    stats = house.state.stats
    stats.count(105, 0, 0.002)
    stats.count(105, 17, 0.0002)
    stats.count(12345, 3, 0.1)
    stats.departures["silent"] += 2
    house.server.fastpath.served += 1000
    await house.get("/nowhere/to/be/found", 404)
    text = await metrics(house)
    for sample, expected in {
        "signpost_topics": 2,
        "signpost_brokers": 2,
        "signpost_ready": 1,
        "signpost_revisions_total": house.tables.revision,
        "signpost_heartbeat_age_max_seconds": 45,
        'signpost_brokers_silent{seconds="30"}': 1,
        'signpost_brokers_silent{seconds="60"}': 0,
        'signpost_requests_total{code="GET_ROUTEINFO_BY_TOPIC",outcome="SUCCESS"}': 1001,
        'signpost_requests_total{code="GET_ROUTEINFO_BY_TOPIC",outcome="TOPIC_NOT_EXIST"}': 1,
        'signpost_requests_total{code="UNKNOWN",outcome="REQUEST_CODE_NOT_SUPPORTED"}': 1,
        'signpost_request_seconds_bucket{code="GET_ROUTEINFO_BY_TOPIC",le="0.003"}': 2,
        'signpost_request_seconds_bucket{code="GET_ROUTEINFO_BY_TOPIC",le="0.001"}': 1,
        'signpost_broker_departures_total{reason="silent"}': 2,
        'signpost_http_requests_total{method="any",path="unknown",status="404"}': 1,
    }.items():
        assert value(text, sample) == expected, sample


async def test_no_label_grows_with_topics(house: House) -> None:
    house.register("a", ["T", "U"])
    before = await metrics(house)
    house.register("a", [f"topic-{n}" for n in range(500)], counter=2)
    for name in ("T", "topic-1", "topic-2"):
        await house.get(f"/v1/topics/{name}/route")
        await house.get(f"/v1/topics/no-{name}/route", 404)
    after = await metrics(house)
    assert "topic-" not in after
    assert len(after.splitlines()) < len(before.splitlines()) + 40


def families(text: str) -> set[str]:
    found = re.findall(r"^# TYPE (\S+) ", text, re.MULTILINE)
    return {name for name in found if name.startswith("signpost_")}


async def test_every_metric_is_documented(house: House) -> None:
    house.context.tls = Certificate()
    documented = set(re.findall(r"^\| `(signpost_\w+)", documentation(), re.MULTILINE))
    assert documented == families(await metrics(house))


def documentation() -> str:
    return DOCS.read_text()


class Certificate:
    reloads = 1
    reload_failures = 0
    not_after: Any = 2e9
