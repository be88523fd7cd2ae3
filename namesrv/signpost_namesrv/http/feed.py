"""The change log for readers from outside: pages of it, and a bell when there is more.

Nothing is kept per reader but its position: whoever falls behind the log must start over from a
snapshot.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from aiohttp import web

from signpost_namesrv.routes.changes import Change

from .context import Context
from .problems import busy

_GATHER = 0.02
"""Seconds from the first change to the bell: a registration brings thousands at once."""


class Page(msgspec.Struct, frozen=True):
    """Some changes, and where the tables were when they were read."""

    identity: str
    since: int
    revision: int
    head: int
    digest: str
    kv_digest: str
    ready: bool
    time_ms: int
    changes: list[Change]


class Feed:
    """The changes of one name server."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._tables = context.state.tables
        self._waiting: set[asyncio.Future[None]] = set()
        self._ringing = False
        self._last: tuple[tuple[int, int, int], int, bytes] = ((-1, -1, -1), 0, b"")
        self.closing = False
        self.readers = 0
        self.resyncs = 0
        self._tables.log.subscribe(self._changed)

    @property
    def revision(self) -> int:
        """The newest revision."""
        return self._tables.revision

    def lost(self, identity: str | None, since: int) -> str | None:
        """Why a reader cannot go on from there; None when it can."""
        if identity is not None and identity != self._context.identity:
            return f"revision {since} belongs to {identity}, another life of this server"
        if since > self.revision:
            return f"revision {since} is not there yet: the newest is {self.revision}"
        oldest = self._tables.log.oldest_known
        if since < oldest:
            return f"revision {since} has left the log, which knows what came after {oldest}"
        return None

    def page(self, since: int, limit: int) -> tuple[int, bytes]:
        """The changes after a revision that is not lost: the revision they lead to, and JSON.

        Readers that follow are all at the same place, so the last page is kept for the others.
        """
        key = (since, limit, self.revision)
        if self._last[0] != key:
            changes = self._tables.log.page(since, limit)
            revision = changes[-1].revision if changes else since
            document = msgspec.json.encode(self._page(since, revision, changes))
            if not changes:
                return revision, document  # with nothing in it, the time is what counts
            self._last = (key, revision, document)
        return self._last[1], self._last[2]

    def _page(self, since: int, revision: int, changes: list[Change]) -> Page:
        return Page(
            identity=self._context.identity,
            since=since,
            revision=revision,
            head=self.revision,
            digest=str(self._tables.digest),
            kv_digest=self._context.kv.digest(),
            ready=self._context.state.not_ready() is None,
            time_ms=self._context.state.now_ms(),
            changes=changes,
        )

    async def wait(self, since: int, seconds: float) -> None:
        """Until there is something after a revision, or the time is over."""
        if self.revision > since or self.closing:
            return
        ring = asyncio.get_running_loop().create_future()
        self._waiting.add(ring)
        try:
            await asyncio.wait([ring], timeout=seconds)
        finally:
            self._waiting.discard(ring)

    @contextmanager
    def seat(self) -> Iterator[None]:
        """A place for one reader that waits; ProblemError when all are taken."""
        limit = self._context.options.max_watchers
        if self.readers >= limit:
            raise busy("watchers and long polls", limit)
        self.readers += 1
        try:
            yield
        finally:
            self.readers -= 1

    def close(self) -> None:
        """Send all readers home."""
        self.closing = True
        self._ring()

    def _changed(self, change: Change) -> None:
        """Called for every change to the tables, so it does next to nothing."""
        if self._waiting and not self._ringing:
            self._ringing = True
            asyncio.get_running_loop().call_later(_GATHER, self._ring)

    def _ring(self) -> None:
        self._ringing = False
        for ring in self._waiting:
            if not ring.done():
                ring.set_result(None)


FEED = web.AppKey("feed", Feed)


async def close_feed(app: web.Application) -> None:
    """The application is about to stop."""
    app[FEED].close()
