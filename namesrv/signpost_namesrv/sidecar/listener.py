"""The broker's side: the port that a broker takes for its name server."""

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol, cast

from signpost_namesrv import logs
from signpost_namesrv.dispatch.replies import answer
from signpost_namesrv.dispatch.stats import Stats
from signpost_namesrv.wire.codes import ResponseCode
from signpost_namesrv.wire.command import Command, decode_frame, encode_frame
from signpost_namesrv.wire.errors import FrameError
from signpost_namesrv.wire.frames import FrameCutter

log = logs.get("listener")

_UNSENT = 4 * 1024 * 1024
_FREE_BUFFER = 64 * 1024


@dataclass(frozen=True, slots=True)
class Bounds:
    """What those on the loopback may take."""

    max_frame: int = 64 * 1024 * 1024
    """Four times a name server's: a plain table of 100,000 topics fits, and leaves compressed."""
    max_header: int = 64 * 1024
    max_connections: int = 256
    max_in_flight: int = 64
    max_buffered: int = 256 * 1024 * 1024
    """Of unfinished frames over all connections; small ones do not count."""


class Handler(Protocol):
    """Who does what is asked."""

    async def handle(self, request: Command, peer: "Peer") -> Command:
        """Carry out a request."""

    def gone(self, peer: "Peer") -> None:
        """A connection ended."""


class Listener:
    """Accepts brokers, and whoever else in the pod wants a name server."""

    def __init__(self, handler: Handler, bounds: Bounds | None = None) -> None:
        self.handler = handler
        self.bounds = bounds or Bounds()
        self.stats = Stats()
        self.peers: set[Peer] = set()
        self._buffered = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server

    async def start(self, host: str, port: int) -> int:
        """Listen; the port."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Peer(self), host, port)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Hang up."""
        self._server.close()
        for peer in list(self.peers):
            peer.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def reserve(self, more: int) -> bool:
        """Whether there is room for so many bytes more (or fewer)."""
        if self._buffered + more > self.bounds.max_buffered:
            return False
        self._buffered += more
        return True

    def spawn(self, work: Awaitable[None]) -> None:
        """Do it beside the rest."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class Peer(asyncio.Protocol):
    """One connection."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._cutter = FrameCutter(listener.bounds.max_frame, listener.bounds.max_header)
        self._transport: asyncio.Transport
        self._in_flight = 0
        self._reserved = 0
        self._inbox: list[bytes] = []
        self._writable = True
        self.closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A socket was accepted."""
        self._transport = cast(asyncio.Transport, transport)
        if len(self._listener.peers) >= self._listener.bounds.max_connections:
            log.warning("connection refused: too many", limit=len(self._listener.peers))
            self.closed = True
            self._transport.abort()
            return
        self._transport.set_write_buffer_limits(_UNSENT)
        self._listener.peers.add(self)

    def data_received(self, data: bytes) -> None:
        """Bytes came."""
        self._inbox.append(data)
        self._pump()

    def pause_writing(self) -> None:
        """It does not take its answers."""
        self._writable = False
        self._pump()

    def resume_writing(self) -> None:
        """It takes them again."""
        self._writable = True
        self._pump()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        if self in self._listener.peers:
            self.closed = True
            self._inbox.clear()
            self._reserve(0)
            self._listener.peers.discard(self)
            self._listener.handler.gone(self)

    def close(self) -> None:
        """Hang up when what is written has gone out."""
        self._transport.close()

    def _pump(self) -> None:
        try:
            while self._inbox and not self.closed and self._may_go_on():
                # All frames of a read are started, so the limit may be passed by those few.
                for frame in self._cutter.feed(self._inbox.pop(0)):
                    self._start(decode_frame(frame))
                self._reserve(self._cutter.outstanding)
        except FrameError as e:
            log.info("connection closed", reason="malformed", error=str(e))
            self._transport.abort()
            return
        if self.closed or self._transport.is_closing():
            return
        if self._may_go_on():
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    def _reserve(self, size: int) -> None:
        wanted = size if size > _FREE_BUFFER else 0
        if not self._listener.reserve(wanted - self._reserved):
            raise FrameError(f"no memory for a frame of {size} bytes")
        self._reserved = wanted

    def _may_go_on(self) -> bool:
        return self._writable and self._in_flight < self._listener.bounds.max_in_flight

    def _start(self, request: Command) -> None:
        if request.is_response:
            return
        self._in_flight += 1
        self._listener.spawn(self._serve(request))

    async def _serve(self, request: Command) -> None:
        started = time.perf_counter()
        try:
            reply = await self._listener.handler.handle(request, self)
        except Exception as e:  # a bug must cost one answer, not the broker's connection
            log.error("request failed", code=request.code, error=e)
            reply = answer(request, ResponseCode.SYSTEM_ERROR, f"sidecar: {type(e).__name__}")
        self._in_flight -= 1
        self._listener.stats.count(request.code, reply.code, time.perf_counter() - started)
        if not self.closed:
            if not request.is_oneway:
                self._transport.write(encode_frame(reply))
            self._pump()
