"""`/v1/snapshot`: all tables at one revision, as one JSON document.

The tables hold values that never change, so a copy of their outermost dictionaries is a snapshot;
it is written in slices while the tables go on changing. Each line of a table holds whole entries,
so that a reader can take them one by one, too.

The ETag covers the routes, the KV configuration, readiness and the identity: what a follower must
fetch again. It does not cover `live`, whose heartbeats change all the time, nor `revision` and
`time_ms`; a 304 brings the revision in a header. So it is a weak one.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec
from aiohttp import web
from pydantic import Field

from signpost_namesrv.routes.model import Live

from .brokers import Connected, Version, connection_fields
from .context import Context
from .endpoint import JSON, Answer, Call, Endpoint, Header
from .models import Millis, Model, Nothing
from .problems import busy

SLICE = 1024
_encode = msgspec.json.Encoder().encode


class QueuesItem(Model):
    """A topic's queues on one broker group."""

    broker: str
    read: int
    write: int
    perm: int
    sys_flag: int


class GroupItem(Model):
    """A broker group."""

    name: str
    cluster: str
    addresses: dict[str, str] = Field(description="By brokerId.")
    acting_master: bool
    zone: str | None


class MappingItem(Model):
    """Where a static topic's logical queues live on one broker."""

    topic: str
    broker: str
    total_queues: int
    epoch: int
    scope: str | None
    dirty: bool
    queue_ids: dict[str, int]


class FilterItem(Model):
    """The filter servers of one broker."""

    cluster: str
    address: str
    servers: list[str]


class LiveItem(Model):
    """One broker's life, as of when this line was written."""

    cluster: str
    address: str
    broker: str
    id: int
    last_heartbeat_ms: Millis
    timeout_ms: int
    data_version: Version
    ha_address: str | None
    connected: Connected | None


class Snapshot(Model):
    """Everything that one name server knows, at one revision."""

    identity: str
    revision: int
    digest: str
    kv_digest: str
    ready: bool
    time_ms: Millis
    clusters: dict[str, list[str]] = Field(description="Names of broker groups, by cluster.")
    brokers: dict[str, GroupItem] = Field(description="By broker name.")
    live: list[LiveItem]
    filter_servers: list[FilterItem]
    mappings: dict[str, dict[str, MappingItem]] = Field(description="By topic and broker name.")
    kv: dict[str, dict[str, str]] = Field(description="By namespace and key.")
    topics: dict[str, list[QueuesItem]]


class _Taken:
    """The tables of one moment."""

    def __init__(self, context: Context) -> None:
        tables = context.state.tables
        self.context = context
        self.head = {
            "identity": context.identity,
            "revision": tables.revision,
            "digest": str(tables.digest),
            "kv_digest": context.kv.digest(),
            "ready": context.state.not_ready() is None,
            "time_ms": context.state.now_ms(),
        }
        self.clusters = {name: sorted(members) for name, members in tables.clusters.items()}
        self.groups = dict(tables.groups)
        self.live = list(tables.live.values())
        self.filters = [
            {"cluster": key.cluster, "address": key.address, "servers": servers}
            for key, servers in tables.filters.items()
        ]
        self.mappings = dict(tables.mappings)
        self.kv = context.kv.snapshot()
        self.topics = dict(tables.topics)

    def pieces(self) -> Iterator[bytes]:
        """The document in pieces, each short work."""
        yield _encode(self.head)[:-1]
        yield from _table(b"clusters", self.clusters)
        yield from _table(b"brokers", self.groups)
        yield from _list(b"live", (_live(self.context, live) for live in self.live))
        yield from _list(b"filter_servers", self.filters)
        yield from _table(b"mappings", self.mappings)
        yield from _table(b"kv", self.kv)
        yield from _table(b"topics", self.topics)
        yield b"\n}\n"


def _table(name: bytes, table: Mapping[str, Any]) -> Iterator[bytes]:
    before = b',\n"%b":{\n' % name
    items = iter(table.items())
    while part := dict(islice(items, SLICE)):
        yield before + _encode(part)[1:-1]
        before = b",\n"
    yield b"\n}" if before == b",\n" else before + b"}"


def _list(name: bytes, values: Iterable[Any]) -> Iterator[bytes]:
    before = b',\n"%b":[\n' % name
    items = iter(values)
    while part := list(islice(items, SLICE // 4)):
        yield before + _encode(part)[1:-1]
        before = b",\n"
    yield b"\n]" if before == b",\n" else before + b"]"


def _live(context: Context, live: Live) -> dict[str, object]:
    return {
        "cluster": live.key.cluster,
        "address": live.key.address,
        "broker": live.name,
        "id": live.broker_id,
        "last_heartbeat_ms": live.last_update_ms,
        "timeout_ms": live.timeout_ms,
        "data_version": live.data_version,
        "ha_address": live.ha_address,
        "connected": connection_fields(context, live.connection),
    }


def etag_of(context: Context) -> str:
    """See the head of this module."""
    state = context.state
    ready = "warm" if state.not_ready() is None else "cold"
    return f'W/"{state.tables.digest}.{context.kv.digest()[:16]}.{ready}.{context.identity[:8]}"'


class Snapshots:
    """How many are being written, and were."""

    def __init__(self) -> None:
        self.open = 0
        self.total = 0


SNAPSHOTS = web.AppKey("snapshots", Snapshots)


async def _snapshot(call: Call[Nothing, Nothing]) -> web.StreamResponse:
    context, request = call.context, call.request
    headers = {
        "ETag": etag_of(context),
        "Cache-Control": "no-cache",
        "Vary": "Accept-Encoding",
        "Signpost-Identity": context.identity,
        "Signpost-Revision": str(context.state.tables.revision),
    }
    if _matches(request.headers.get("If-None-Match"), headers["ETag"]):
        return web.Response(status=304, headers=headers)
    snapshots = request.app[SNAPSHOTS]
    if snapshots.open >= context.options.max_snapshots:
        raise busy("snapshots under way", context.options.max_snapshots)
    snapshots.open += 1
    snapshots.total += 1
    try:
        return await _write(call, headers)
    finally:
        snapshots.open -= 1


async def _write(call: Call[Nothing, Nothing], headers: dict[str, str]) -> web.StreamResponse:
    response = web.StreamResponse(headers=headers)
    response.content_type = JSON
    packer = None
    if _takes_gzip(call.request.headers.get("Accept-Encoding", "")):
        response.headers["Content-Encoding"] = "gzip"
        packer = zlib.compressobj(1, wbits=31)
    pace = call.context.pace
    began = pace.clock()
    pieces = _Taken(call.context).pieces()
    await response.prepare(call.request)
    for piece in pieces:
        if packer is not None:
            piece = packer.compress(piece)
        ended = pace.clock()
        if piece:
            await response.write(piece)
        began = await pace.rest(began, ended)
    if packer is not None:
        await response.write(packer.flush())
    await response.write_eof()
    return response


def _matches(header: str | None, etag: str) -> bool:
    """The weak comparison of RFC 9110."""
    if header is None:
        return False
    listed = [one.strip().removeprefix("W/") for one in header.split(",")]
    return "*" in listed or etag.removeprefix("W/") in listed


def _takes_gzip(header: str) -> bool:
    for item in header.lower().split(","):
        coding, _, weight = item.partition(";")
        if coding.strip() in ("gzip", "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/v1/snapshot",
        summary="All tables at one revision",
        handle=_snapshot,
        params=Nothing,
        body=Nothing,
        answers={
            200: Answer("Everything; compressed when Accept-Encoding has gzip.", Snapshot),
            304: Answer(
                "Routes, KV configuration, readiness and identity are those of the ETag; "
                "Signpost-Revision tells the revision."
            ),
        },
        problems={503: "Too many snapshots are being fetched."},
        headers=(Header("If-None-Match", "The ETag of an earlier answer."),),
        streams=True,
    ),
)
