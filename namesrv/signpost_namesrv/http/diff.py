"""Our tables against a peer's snapshot, line by line, so that neither is ever there twice."""

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec
from aiohttp import ClientError, ClientSession, ClientTimeout, StreamReader
from pydantic import Field

from signpost_namesrv.routes.model import Group, Queues, StaticMapping

from .context import Context
from .models import Model

SHOWN = 100
"""Differences shown of each table; all are counted."""
_MAX_LINE = 16 * 1024 * 1024
_MAX_TOTAL = 1024 * 1024 * 1024
_TIMEOUT = ClientTimeout(total=60, sock_read=10)

_SECTION = re.compile(rb'"(\w+)":[{\[]')
_ENDS = (b"}", b"]")


class PeerFailedError(Exception):
    """The peer's snapshot cannot be read; the message says why."""


class Difference(Model):
    """One entry that is not the same on both."""

    name: str
    here: Any = Field(description="The entry of this server; null: it has none.")
    there: Any = Field(description="The entry of the peer; null: it has none.")


class TableDiff(Model):
    """The differences of one table."""

    count: int
    shown: list[Difference] = Field(description=f"At most {SHOWN}.")


class Diff(Model):
    """Where two name servers differ, as of the moment when the peer's snapshot came."""

    identity_here: str
    identity_there: str
    revision_here: int
    revision_there: int
    digest_here: str
    digest_there: str
    same: bool = Field(description="No difference in any table.")
    tables: dict[str, TableDiff] = Field(
        description="By table: topics, brokers, clusters, mappings, kv."
    )


class _Head(msgspec.Struct):
    identity: str
    revision: int
    digest: str


class _Table:
    """One of our tables, less what the peer has too."""

    def __init__(self, ours: Mapping[str, Any], kind: Any) -> None:
        self._left = dict(ours)
        self._decoder = msgspec.json.Decoder(dict[str, kind])
        self._count = 0
        self._shown: list[Difference] = []

    def take(self, line: bytes) -> None:
        """Compare some of the peer's entries."""
        for name, there in self._decoder.decode(b"{%b}" % line).items():
            here = self._left.pop(name, None)
            if here != there:
                self._add(name, here, there)

    def end(self) -> TableDiff:
        """What is left, the peer does not have."""
        for name, here in self._left.items():
            self._add(name, here, None)
        return TableDiff(count=self._count, shown=self._shown)

    def _add(self, name: str, here: Any, there: Any) -> None:
        self._count += 1
        if len(self._shown) < SHOWN:
            shown = (None if x is None else msgspec.to_builtins(x) for x in (here, there))
            self._shown.append(Difference(name=name, here=next(shown), there=next(shown)))


async def compare(
    context: Context, url: str, session: ClientSession, headers: Mapping[str, str]
) -> Diff:
    """Read the peer's snapshot and compare it with what is here when it begins."""
    # Inflating takes longer than the network that is saved, and here it is all our time.
    wanted = {**headers, "Accept-Encoding": "identity"}
    try:
        async with session.get(
            f"{url}/v1/snapshot", headers=wanted, timeout=_TIMEOUT, allow_redirects=False
        ) as response:
            if response.status != 200:
                raise PeerFailedError(f"its snapshot has status {response.status}")
            return await _compare(context, response.content)
    except (ClientError, OSError, TimeoutError) as e:
        raise PeerFailedError(str(e) or "timed out") from e
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise PeerFailedError(f"its snapshot makes no sense: {e}") from e


async def _compare(context: Context, content: StreamReader) -> Diff:
    tables, pace = context.state.tables, context.pace
    lines = _lines(content)
    first = await anext(lines, b"")
    head = msgspec.json.decode(first.rstrip(b",") + b"}", type=_Head)
    found = {
        "topics": _Table(tables.topics, tuple[Queues, ...]),
        "brokers": _Table(tables.groups, Group),
        "clusters": _Table({c: sorted(m) for c, m in tables.clusters.items()}, list[str]),
        "mappings": _Table(tables.mappings, dict[str, StaticMapping]),
        "kv": _Table(context.kv.snapshot(), dict[str, str]),
    }
    revision, digest = tables.revision, str(tables.digest)
    table: _Table | None = None
    began = pace.clock()
    async for line in lines:
        if section := _SECTION.fullmatch(line):
            table = found.get(section[1].decode())
        elif line.rstrip(b",") not in _ENDS and table is not None:
            table.take(line.rstrip(b","))
            began = await pace.rest(began)
    ended = {name: one.end() for name, one in found.items()}
    return Diff(
        identity_here=context.identity,
        identity_there=head.identity,
        revision_here=revision,
        revision_there=head.revision,
        digest_here=digest,
        digest_there=head.digest,
        same=not any(one.count for one in ended.values()),
        tables=ended,
    )


async def _lines(content: StreamReader) -> AsyncIterator[bytes]:
    rest, total = b"", 0
    async for chunk in content.iter_chunked(64 * 1024):
        total += len(chunk)
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line
        if len(rest) > _MAX_LINE or total > _MAX_TOTAL:
            raise PeerFailedError("its snapshot is too large")
    if rest:
        yield rest
