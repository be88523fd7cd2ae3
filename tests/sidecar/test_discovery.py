"""Sources of addresses, and what becomes of their mistakes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import dns.asyncresolver
import dns.flags
import dns.message
import dns.rcode
import dns.rrset
import pytest
from aiohttp import web

from signpost_namesrv.sidecar.discovery.polled import AddressServer, Written
from signpost_namesrv.sidecar.discovery.resolved import Resolved
from signpost_namesrv.sidecar.discovery.roster import Roster
from signpost_namesrv.sidecar.discovery.slices import Service, SliceBook, Slices
from signpost_namesrv.sidecar.discovery.source import DiscoveryError, Found, follow
from signpost_namesrv.sidecar.sidecar import Options, Sidecar
from tests.sidecar.actors import servers, until

Zone = dict[str, tuple[int, list[str]]]


class Dns(asyncio.DatagramProtocol):
    """A name server of the other kind. It answers from `zone`, or as `lie` says."""

    def __init__(self) -> None:
        self.zone: Zone = {}
        self.lie: Callable[[dns.message.Message], bytes | None] | None = None
        self._transport: asyncio.DatagramTransport

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        self._transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        query = dns.message.from_wire(data)
        answer = self.lie(query) if self.lie else self._answer(query)
        if answer is not None:
            self._transport.sendto(answer, addr)

    def _answer(self, query: dns.message.Message) -> bytes:
        reply, question = dns.message.make_response(query), query.question[0]
        reply.flags |= dns.flags.RA
        kind = question.to_text().split()[-1]
        ttl, hosts = self.zone.get(f"{question.name} {kind}", (0, []))
        if hosts:
            reply.answer.append(dns.rrset.from_text(question.name, ttl, "IN", kind, *hosts))
        elif not any(key.startswith(f"{question.name} ") for key in self.zone):
            reply.set_rcode(dns.rcode.NXDOMAIN)
        return reply.to_wire()


@asynccontextmanager
async def dns_server() -> AsyncIterator[tuple[Dns, dns.asyncresolver.Resolver]]:
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(Dns, local_addr=("127.0.0.1", 0))
    resolver = dns.asyncresolver.Resolver(configure=False)
    resolver.nameservers = ["127.0.0.1"]
    resolver.port = transport.get_extra_info("sockname")[1]
    resolver.timeout = resolver.lifetime = 0.3
    try:
        yield server, resolver
    finally:
        transport.close()


@pytest.mark.parametrize(("ttl", "again"), [(0, 1.0), (3, 3.0), (300, 5.0)])
async def test_dns_gives_every_address_and_minds_the_ttl(ttl: int, again: float) -> None:
    async with dns_server() as (server, resolver):
        server.zone["ns.test. A"] = (ttl, ["10.0.0.2", "10.0.0.1"])
        server.zone["ns.test. AAAA"] = (900, ["fd00::1"])
        found = await Resolved("ns.test", 9876, 5.0, resolver).look()
    assert found == Found(("10.0.0.1:9876", "10.0.0.2:9876", "[fd00::1]:9876"), again)


@pytest.mark.parametrize(
    "lie",
    [
        lambda query: None,
        lambda query: b"\x00" * 40,
        lambda query: dns.message.make_response(query).to_wire(),
    ],
    ids=["silent", "nonsense", "empty"],
)
async def test_dns_that_lies(lie: Callable[[dns.message.Message], bytes | None]) -> None:
    async with dns_server() as (server, resolver):
        server.lie = lie
        source = Resolved("ns.test", 9876, 5.0, resolver, patience=0.3)
        with pytest.raises(DiscoveryError, match=r"ns\.test"):
            await source.look()


async def test_an_unknown_name() -> None:
    async with dns_server() as (_, resolver):
        with pytest.raises(DiscoveryError, match="does not exist"):
            await Resolved("none.test", 9876, 5.0, resolver).look()


async def test_a_lying_dns_takes_no_route_away() -> None:
    """The broker stays registered while DNS says nothing, or the half."""
    async with servers(1) as (server,), dns_server() as (zone, resolver):
        zone.zone["ns.test. A"] = (0, ["127.0.0.1"])
        source = Resolved("ns.test", server.port, 0.02, resolver)
        sidecar = Sidecar(Options(port=0), [source])
        await sidecar.start()
        await until(lambda: sidecar.fleet.up)
        zone.zone["ns.test. A"] = (0, ["127.0.0.99"])
        await until(lambda: len(sidecar.fleet.links) == 2)
        zone.zone.clear()
        listing = sidecar.roster.listings["DNS"]
        await until(lambda: listing.failures > 0)
        assert [e.address for e in sidecar.fleet.endpoints if e.up] == [server.address]
        assert listing.error
        await sidecar.stop()


class Scripted:
    """A source that says what it is told to."""

    name = "scripted"

    def __init__(self, *sayings: Found | Exception) -> None:
        self._sayings = list(sayings)

    async def look(self) -> Found:
        saying = self._sayings.pop(0)
        if isinstance(saying, Exception):
            raise saying
        return saying

    async def close(self) -> None:
        pass


async def test_following_goes_on_after_every_kind_of_failure() -> None:
    source = Scripted(
        DiscoveryError("down"),
        Found(("a:1",), 7.0),
        Found((), 7.0),
        RuntimeError("a bug"),
        Found(("b:1",), float("inf")),
    )
    roster, pauses, lists = Roster(["scripted"], 0), [], []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    def changed() -> None:
        lists.append((roster.listed_now(), roster.listings["scripted"].error))

    await follow(source, roster, changed, lambda: 0.0, sleep)
    assert pauses == [2.0, 7.0, 2.0, 2.0]
    assert lists == [
        ([], "down"),
        (["a:1"], ""),
        (["a:1"], "the answer was empty"),
        (["a:1"], "RuntimeError: a bug"),
        (["b:1"], ""),
    ]


async def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "nameservers"
    source = Written(file)
    with pytest.raises(DiscoveryError, match="No such file"):
        await source.look()
    file.write_text("a:1;b:2\n# c:3\nd:4 # new\n")
    assert (await source.look()).addresses == ("a:1", "b:2", "d:4")
    file.write_text("a:1;nonsense")
    with pytest.raises(DiscoveryError, match="'nonsense' is not host:port"):
        await source.look()
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(DiscoveryError):
        await source.look()


@asynccontextmanager
async def http(handler: Callable[[web.Request], Any]) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_get("/{path:.*}", handler)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_an_address_server() -> None:
    answers = [
        web.Response(text="10.0.0.1:9876;10.0.0.2:9876\n"),
        web.Response(text=""),
        web.Response(status=500),
        web.Response(text="<html>sorry</html>"),
    ]

    async def handle(request: web.Request) -> web.Response:
        assert request.path == "/rocketmq/nsaddr"
        return answers.pop(0)

    async with http(handle) as url:
        source = AddressServer(f"{url}/rocketmq/nsaddr", 10)
        assert await source.look() == Found(("10.0.0.1:9876", "10.0.0.2:9876"), 10)
        assert (await source.look()).addresses == ()
        for _ in range(2):
            with pytest.raises(DiscoveryError, match=r"nsaddr|host:port"):
                await source.look()
        await source.close()
    with pytest.raises(DiscoveryError):
        await source.look()
    await source.close()


def slice_of(name: str, *hosts: str, version: str = "1", kind: str = "IPv4") -> dict[str, Any]:
    ready = [{"addresses": [h], "conditions": {"ready": n == 0}} for n, h in enumerate(hosts)]
    metadata = {"name": name, "resourceVersion": version}
    return {"metadata": metadata, "addressType": kind, "endpoints": ready or None}


def test_the_book_of_slices() -> None:
    book = SliceBook(9876)
    listed = [slice_of("x", "10.0.0.1", "10.0.0.2"), slice_of("z", "no.such", kind="FQDN")]
    book.replace({"metadata": {"resourceVersion": "5"}, "items": listed})
    assert book.addresses() == ("10.0.0.1:9876", "10.0.0.2:9876"), "not ready ones included"
    story = [
        ("ADDED", slice_of("y", "fd00::1", version="6", kind="IPv6"), True),
        ("BOOKMARK", {"metadata": {"resourceVersion": "9"}}, False),
        ("MODIFIED", slice_of("x", "10.0.0.2", version="10"), True),
        ("DELETED", slice_of("y", version="11"), True),
    ]
    assert [book.apply({"type": k, "object": o}) for k, o, _ in story] == [c for *_, c in story]
    assert (book.addresses(), book.version) == (("10.0.0.2:9876",), "11")
    with pytest.raises(LookupError, match="too old"):
        book.apply({"type": "ERROR", "object": {"code": 410, "message": "too old"}})


class Api:
    """As much of a Kubernetes API server as discovery asks for."""

    def __init__(self) -> None:
        self.items: list[dict[str, Any]] = []
        self.lists = self.watches = 0
        self.events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self.status = 200
        self.tokens: list[str] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        assert request.path == "/apis/discovery.k8s.io/v1/namespaces/mq/endpointslices"
        assert request.query["labelSelector"] == "kubernetes.io/service-name=namesrv"
        self.tokens.append(request.headers["Authorization"])
        if self.status != 200:
            return web.Response(status=self.status)
        if "watch" not in request.query:
            self.lists += 1
            return web.json_response({"metadata": {"resourceVersion": "1"}, "items": self.items})
        self.watches += 1
        response = web.StreamResponse()
        await response.prepare(request)
        while event := await self.events.get():
            await response.write(json.dumps(event).encode() + b"\n")
        return response


async def test_endpoint_slices_are_listed_and_watched(tmp_path: Path) -> None:
    api = Api()
    api.items = [slice_of("x", "10.0.0.1")]
    (tmp_path / "token").write_text("first\n")
    async with http(api.handle) as url:
        source = Slices(Service(url, "mq", "namesrv", 9876, tmp_path))
        assert (await source.look()).addresses == ("10.0.0.1:9876",)
        api.events.put_nowait({"type": "BOOKMARK", "object": slice_of("x", version="4")})
        api.events.put_nowait({"type": "ADDED", "object": slice_of("y", "10.0.0.2", version="5")})
        assert (await source.look()).addresses == ("10.0.0.1:9876", "10.0.0.2:9876")
        api.events.put_nowait(None)  # the watch times out; the next one goes on from there
        (tmp_path / "token").write_text("second\n")
        assert (await source.look()).addresses == ("10.0.0.1:9876", "10.0.0.2:9876")
        api.events.put_nowait({"type": "DELETED", "object": slice_of("x", version="6")})
        assert (await source.look()).addresses == ("10.0.0.2:9876",)
        assert (api.lists, api.watches) == (1, 2)
        assert api.tokens[-1] == "Bearer second"
        api.events.put_nowait({"type": "ERROR", "object": {"code": 410, "message": "gone"}})
        with pytest.raises(DiscoveryError, match="gone"):
            await source.look()
        assert (await source.look()).addresses == ("10.0.0.1:9876",), "listed anew"
        assert api.lists == 2
        api.status = 403
        with pytest.raises(DiscoveryError, match="status 403"):
            await source.look()
        await source.close()
