"""The HTTP port's connections: how many, and how long each may take to say or take something.

aiohttp bounds sizes, but a client may hold a connection for ever by sending its request slowly or
by not reading its answer. This stands between the socket and aiohttp and looks at the clock.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import cast

from aiohttp import web

from .options import Options


class Guards:
    """All connections of the HTTP port."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.now = time.monotonic
        self.refused = 0
        self._all: dict[asyncio.BaseTransport, Guard] = {}

    def __len__(self) -> int:
        return len(self._all)

    def admit(self, guard: "Guard", transport: asyncio.BaseTransport) -> bool:
        """Whether there is room for one more."""
        if len(self._all) >= self.options.max_connections:
            self.refused += 1
            return False
        self._all[transport] = guard
        return True

    def gone(self, transport: asyncio.BaseTransport) -> None:
        """A connection closed."""
        self._all.pop(transport, None)

    def of(self, request: web.Request) -> "Guard | None":
        """The connection of a request."""
        return None if request.transport is None else self._all.get(request.transport)

    def sweep(self) -> int:
        """Drop the connections that take too long; how many."""
        now = self.now()
        late = [guard for guard in self._all.values() if guard.is_late(now)]
        for guard in late:
            guard.drop()
        return len(late)


class Guard(asyncio.Protocol):
    """One connection, on its way to aiohttp's protocol."""

    def __init__(self, guards: Guards, inner: asyncio.Protocol) -> None:
        self._guards = guards
        self._inner = inner
        self._transport: asyncio.Transport
        self._idle_since: float | None = guards.now()
        self._stalled_since: float | None = None
        self._admitted = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A socket was accepted."""
        self._transport = cast(asyncio.Transport, transport)
        self._admitted = self._guards.admit(self, transport)
        if self._admitted:
            self._inner.connection_made(transport)
        else:
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        if self._admitted:
            self._guards.gone(self._transport)
            self._inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes came."""
        if self._admitted:
            self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        """The client will send no more."""
        return self._inner.eof_received() if self._admitted else None

    def pause_writing(self) -> None:
        """The client does not take its answer."""
        self._stalled_since = self._guards.now()
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """It takes it again."""
        self._stalled_since = None
        self._inner.resume_writing()

    def begin(self) -> None:
        """A request is here with all its headers: its handler minds the time now."""
        self._idle_since = None

    def end(self) -> None:
        """It was answered."""
        self._idle_since = self._guards.now()

    def is_late(self, now: float) -> bool:
        """Whether the client took too long."""
        options = self._guards.options
        idle, stalled = self._idle_since, self._stalled_since
        return (idle is not None and now - idle > options.request_timeout) or (
            stalled is not None and now - stalled > options.write_stall
        )

    def drop(self) -> None:
        """Close it without a word."""
        self._transport.abort()


GUARDS = web.AppKey("guards", Guards)


@web.middleware
async def guarded(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Tell the connection when a request begins and ends."""
    guard = request.app[GUARDS].of(request)
    if guard is None:
        return await handler(request)
    guard.begin()
    try:
        return await handler(request)
    finally:
        guard.end()


async def sweep(app: web.Application) -> None:
    """Look at the clock once a second."""
    while True:
        await asyncio.sleep(1.0)
        app[GUARDS].sweep()
