"""One peer: its frames in, their answers out, within its limits."""

import asyncio
import os
import struct
from collections.abc import Coroutine, Generator, Iterator
from typing import TYPE_CHECKING, Any, cast

from signpost_namesrv import logs
from signpost_namesrv.dispatch.dispatcher import dispatch
from signpost_namesrv.dispatch.fastpath import MAX_READ
from signpost_namesrv.dispatch.replies import answer
from signpost_namesrv.dispatch.state import Peer
from signpost_namesrv.wire.codes import RequestCode, ResponseCode
from signpost_namesrv.wire.command import Command, decode_frame, encode_frame
from signpost_namesrv.wire.errors import FrameError
from signpost_namesrv.wire.frames import Frame, FrameCutter

from .door import Session, SessionError

if TYPE_CHECKING:
    from .server import Server

log = logs.get("server")

_FLUSH = 64 * 1024
_FREE_BUFFER = 64 * 1024


class Connection(asyncio.Protocol):
    """The protocol of one accepted socket. There may be thousands, so each is small."""

    __slots__ = (
        "_cutter",
        "_direct",
        "_fast",
        "_frames",
        "_in_flight",
        "_inbox",
        "_limits",
        "_out",
        "_out_size",
        "_reading",
        "_reserved",
        "_server",
        "_session",
        "_simple",
        "_socket",
        "_started",
        "_transport",
        "_writable",
        "active",
        "closed",
        "last_active",
        "peer",
        "stalled_since",
    )

    def __init__(self, server: "Server") -> None:
        self._server = server
        self._limits = server.limits
        self._fast = server.fastpath.answer
        self._transport: asyncio.Transport
        self._session: Session | None = None
        self._cutter = FrameCutter(server.limits.max_frame, server.limits.max_header)
        self._inbox: list[bytes] = []
        self._frames: Iterator[Frame] | None = None
        self._out: list[bytes] = []
        self._out_size = 0
        self._reserved = 0
        self._in_flight = 0
        self._reading = True
        self._writable = True
        self._started = False
        self._socket = -1
        self._direct = False  # the transport holds nothing back: writes may go past it
        self._simple = False  # plain, and no frame under way: the fast path may look
        self.peer = Peer(self, "")
        self.closed = False
        self.active = True  # something came since the last look; the server resets it
        self.last_active = server.now()
        self.stalled_since: float | None = None

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A socket was accepted."""
        self._transport = transport = cast(asyncio.Transport, transport)
        self._socket = transport.get_extra_info("socket").fileno()
        name = transport.get_extra_info("peername")
        self.peer = Peer(self, str(name[0]) if name else "")
        if not self._server.admit(self):
            self.closed = True
            transport.abort()
            return
        transport.set_write_buffer_limits(self._limits.write_high, self._limits.write_low)

    def data_received(self, data: bytes) -> None:
        """Bytes came. Nearly always they are look-ups that were answered before."""
        self.active = True
        if self._simple and len(data) <= MAX_READ:
            reply = self._fast(data)
            if reply is not None:
                self._write_now(reply)
                return
        self._receive(data)

    def _write_now(self, reply: bytes) -> None:
        """Write past the transport, which would wait for the end of the loop's turn.

        Only when it holds nothing back that must go first; what does not fit now it sends later.
        """
        if self._direct or not self._transport.get_write_buffer_size():
            self._direct = True
            try:
                sent = os.write(self._socket, reply)
            except OSError:
                sent = 0  # full, or broken: the transport finds out which
            if sent == len(reply):
                return
            reply = reply[sent:]
        self._direct = False
        self._transport.write(reply)

    def eof_received(self) -> None:
        """The peer will send no more; stock peers that say so are gone."""

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone, whoever closed it."""
        if self.closed and not self._server.knows(self):
            return
        self.closed = True
        self._inbox.clear()
        self._frames = None
        self._reserve(0)
        self._server.gone(self)

    def pause_writing(self) -> None:
        """The peer does not take its answers: stop reading its questions."""
        self._writable = False
        self.stalled_since = self._server.now()
        self._update_reading()

    def resume_writing(self) -> None:
        """It takes them again."""
        self._writable = True
        self.stalled_since = None
        self._pump()

    # our side

    @property
    def encrypted(self) -> bool:
        """Whether it speaks TLS."""
        return self._session is not None

    @property
    def remote(self) -> str:
        """The peer's `ip:port`."""
        name = self._transport.get_extra_info("peername")
        return f"{name[0]}:{name[1]}" if name else ""

    def close(self, reason: str, **fields: object) -> None:
        """Drop the peer, with one line that says why."""
        if not self.closed:
            log.info("connection closed", peer=self.peer.address, reason=reason, **fields)
            self.abort()

    def abort(self) -> None:
        """Drop the peer without a word."""
        self.closed = True
        self._simple = False
        self._transport.abort()

    def finish(self) -> None:
        """Close after what is written has gone out."""
        if not self.closed:
            if self._session is not None:
                self._transport.write(self._session.close())
            self._transport.close()

    def _receive(self, data: bytes) -> None:
        if self.closed:
            return
        try:
            if not self._started:
                self._session = self._server.door.admit(data[0])
                self._started = True
            if self._session is not None:
                data = self._decrypt(self._session, data)
        except SessionError as e:
            self.close("TLS", error=str(e))
            return
        if data:
            self._inbox.append(data)
            self._pump()

    def _decrypt(self, session: Session, data: bytes) -> bytes:
        try:
            plain = session.feed(data)
        finally:
            if reply := session.outgoing():
                self._transport.write(reply)
        if session.peer_names != self.peer.names:
            self.peer = Peer(self, self.peer.address, session.peer_names)
        if session.eof:
            self._transport.close()
        return plain

    def _pump(self) -> None:
        """Handle what has come, until it is done or the peer must wait."""
        try:
            while not self.closed and self._may_go_on():
                if self._frames is None:
                    if not self._inbox:
                        break
                    self._frames = self._cutter.feed(self._inbox.pop(0))
                frame = next(self._frames, None)
                if frame is None:
                    self._frames = None
                    self._reserve(self._cutter.outstanding)
                else:
                    self._handle(frame)
        except FrameError as e:
            self._flush()
            self.close("malformed", error=str(e))
            return
        self._flush()
        self._simple = (
            self._session is None
            and not self.closed
            and self._frames is None
            and not self._inbox
            and self._cutter.empty
        )
        self._update_reading()

    def _may_go_on(self) -> bool:
        return self._writable and self._in_flight < self._limits.max_in_flight

    def _handle(self, frame: Frame) -> None:
        request = decode_frame(frame)
        if request.is_response:
            return
        started = self._server.clock()
        outcome: object
        try:
            outcome = dispatch(self._server.state, request, self.peer)
        except Exception as e:  # a bug must cost one answer, not the connection
            self._fail(request, started, e)
            return
        if isinstance(outcome, Command):
            if request.code == RequestCode.GET_ROUTEINFO_BY_TOPIC:
                self._learn(frame, request, outcome)
            self._reply(request, started, outcome)
        elif isinstance(outcome, Generator):
            self._begin(request)
            self._server.writer.submit(
                outcome,
                lambda reply: self._finished(request, started, reply),
                lambda error: self._finished(request, started, self._failure(request, error)),
            )
        else:
            assert isinstance(outcome, Coroutine)
            self._begin(request)
            self._server.spawn_answer(self._wait(request, started, outcome))

    def _learn(self, frame: Frame, request: Command, reply: Command) -> None:
        if reply.code == ResponseCode.SUCCESS and not (request.binary or request.is_oneway):
            self._server.fastpath.learn(bytes(frame), request, reply)

    async def _wait(
        self, request: Command, started: float, waiting: Coroutine[Any, Any, Command]
    ) -> None:
        try:
            reply = await waiting
        except Exception as e:  # as above
            reply = self._failure(request, e)
        self._finished(request, started, reply)

    def _begin(self, request: Command) -> None:
        """The request waits, and its body with it: a large one counts for many."""
        self._in_flight += _weight(request)
        self._server.hold(len(request.body))

    def _finished(self, request: Command, started: float, reply: Command) -> None:
        """An answer that did not come at once has come."""
        waited = not self._may_go_on()
        self._in_flight -= _weight(request)
        self._server.hold(-len(request.body))
        if self.closed:  # a broker that it registered goes when its close has its turn
            return
        self._reply(request, started, reply)
        if waited:
            self._pump()
        else:
            self._flush()

    def _reply(self, request: Command, started: float, reply: Command) -> None:
        self._server.stats.count(request.code, reply.code, self._server.clock() - started)
        if request.is_oneway:
            return
        try:
            frame = encode_frame(reply)
        except (ValueError, struct.error) as e:  # e.g. a name with half a surrogate pair
            frame = encode_frame(self._failure(request, e))
        self._out.append(frame)
        self._out_size += len(frame)
        if self._out_size >= _FLUSH:
            self._flush()

    def _fail(self, request: Command, started: float, error: Exception) -> None:
        self._reply(request, started, self._failure(request, error))

    def _failure(self, request: Command, error: Exception) -> Command:
        log.error("request failed", code=request.code, peer=self.peer.address, error=error)
        return answer(request, ResponseCode.SYSTEM_ERROR, f"internal error: {type(error).__name__}")

    def _flush(self) -> None:
        if self._out:
            data = self._out[0] if len(self._out) == 1 else b"".join(self._out)
            self._out.clear()
            self._out_size = 0
            self._write(data)

    def _write(self, data: bytes) -> None:
        if self.closed:
            return
        if self._session is not None:
            try:
                data = self._session.encrypt(data)
            except SessionError as e:
                self.close("TLS", error=str(e))
                return
        self._direct = False
        self._transport.write(data)

    def _reserve(self, size: int) -> None:
        """Account for an unfinished frame; small ones are free."""
        wanted = size if size > _FREE_BUFFER else 0
        if wanted != self._reserved:
            granted = self._server.reserve(wanted - self._reserved)
            if granted:
                self._reserved = wanted
            else:
                self.close("no memory for its frame", frame=size)

    def _update_reading(self) -> None:
        reading = self._may_go_on()
        if reading != self._reading and not self._transport.is_closing():
            self._reading = reading
            if reading:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()


def _weight(request: Command) -> int:
    return 1 + len(request.body) // _FREE_BUFFER
