"""The connection to one name server: kept up, requests out, answers back."""

import asyncio
import itertools
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import cast

import msgspec

from signpost_namesrv import logs
from signpost_namesrv.wire.command import Command, decode_frame, encode_frame
from signpost_namesrv.wire.errors import FrameError
from signpost_namesrv.wire.frames import FrameCutter

from .endpoint import Endpoint

log = logs.get("link")


class LinkError(Exception):
    """No answer; the message says why."""


@dataclass(frozen=True, slots=True)
class Dialling:
    """How name servers are reached. Times in seconds, sizes in bytes."""

    connect_timeout: float = 3.0
    request_timeout: float = 3.0
    max_frame: int = 64 * 1024 * 1024
    """Of an answer: the list of all topics can be long."""
    max_header: int = 1024 * 1024
    tls: Callable[[], ssl.SSLContext | None] = lambda: None
    """The context for the next connection; None: plain."""
    server_name: str | None = None
    """The name that certificates must carry; None: the endpoint's own host."""


class Link:
    """Runs until cancelled; `on_up` is told of every new connection."""

    def __init__(
        self,
        endpoint: Endpoint,
        dialling: Dialling,
        on_up: Callable[["Link"], Awaitable[None]],
        now: Callable[[], float],
    ) -> None:
        self.endpoint = endpoint
        self.lock = asyncio.Lock()
        """Held by whoever tells this name server of a broker: one at a time, in order."""
        self._dialling = dialling
        self._on_up = on_up
        self._now = now
        self._protocol: _Protocol | None = None
        self._opaques = itertools.count(1)
        self.bytes_sent = 0

    async def run(self) -> None:
        """Keep the connection up."""
        while True:
            error = await self._one_connection()
            if self.endpoint.up or error != self.endpoint.last_error:
                log.info("name server not reached", endpoint=self.endpoint.address, reason=error)
            await asyncio.sleep(self.endpoint.failed(error, self._now()))

    async def _one_connection(self) -> str:
        """From the first packet to the last; why it ended."""
        try:
            protocol = await self._connect()
        except TimeoutError:
            return "no connection in time"
        except (OSError, ssl.SSLError, ValueError) as e:
            return _reason(e)
        self._protocol = protocol
        self.endpoint.connected(self._now())
        log.info("connected to name server", endpoint=self.endpoint.address)
        catching_up = asyncio.ensure_future(self._catch_up())
        try:
            return await asyncio.shield(protocol.ended)
        finally:
            self._protocol = None
            catching_up.cancel()
            protocol.close("given up")

    async def _catch_up(self) -> None:
        try:
            await self._on_up(self)
        except Exception as e:  # a bug here must not pass in silence; the next beat tries again
            log.error("catching up failed", endpoint=self.endpoint.address, error=e)

    async def _connect(self) -> "_Protocol":
        host, _, port = self.endpoint.address.rpartition(":")
        host = host.strip("[]")
        context = self._dialling.tls()
        name = (self._dialling.server_name or host) if context else None
        async with asyncio.timeout(self._dialling.connect_timeout):
            _, protocol = await asyncio.get_running_loop().create_connection(
                lambda: _Protocol(self._dialling),
                host,
                int(port),
                ssl=context,
                server_hostname=name,
            )
        return protocol

    async def request(self, command: Command, seconds: float | None = None) -> Command:
        """Ask, and wait for the answer; a server that does not answer loses its connection.

        A half-open connection looks just like that, and a new one tells them apart.
        """
        protocol = self._usable()
        command = self._numbered(command)
        if command.is_oneway:
            self._write(protocol, command)
            return _sent(command)
        waiting = protocol.expect(command.opaque)
        try:
            self._write(protocol, command)
            async with asyncio.timeout(seconds or self._dialling.request_timeout):
                return await waiting
        except TimeoutError:
            protocol.close("no answer in time")
            raise LinkError("no answer in time") from None
        finally:
            protocol.waiting.pop(command.opaque, None)

    def drop(self) -> None:
        """Hang up; the next connection follows."""
        if self._protocol is not None:
            self._protocol.close("dropped")

    def _usable(self) -> "_Protocol":
        if self._protocol is None:
            raise LinkError(self.endpoint.last_error or "not connected")
        return self._protocol

    def _numbered(self, command: Command) -> Command:
        return msgspec.structs.replace(command, opaque=next(self._opaques) & 0x7FFFFFFF)

    def _write(self, protocol: "_Protocol", command: Command) -> None:
        frame = encode_frame(command)
        self.bytes_sent += len(frame)
        protocol.write(frame)


class _Protocol(asyncio.Protocol):
    def __init__(self, dialling: Dialling) -> None:
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.waiting: dict[int, asyncio.Future[Command]] = {}
        self._cutter = FrameCutter(dialling.max_frame, dialling.max_header)
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if sock := transport.get_extra_info("socket"):
            _watch_peer(sock)

    def data_received(self, data: bytes) -> None:
        try:
            for frame in self._cutter.feed(data):
                self._answer(decode_frame(frame))
        except FrameError as e:
            self.close(f"malformed answer: {e}")

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(_reason(exc) if exc else "closed by the name server")

    def expect(self, opaque: int) -> asyncio.Future[Command]:
        self.waiting[opaque] = waiting = asyncio.get_running_loop().create_future()
        return waiting

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def close(self, reason: str) -> None:
        self._end(reason)
        self._transport.abort()

    def _answer(self, command: Command) -> None:
        """Name servers ask nothing here: they reach a broker at its own port."""
        waiting = self.waiting.pop(command.opaque, None) if command.is_response else None
        if waiting is not None and not waiting.done():
            waiting.set_result(command)

    def _end(self, reason: str) -> None:
        if not self.ended.done():
            self.ended.set_result(reason)
        for waiting in self.waiting.values():
            if not waiting.done():
                waiting.set_exception(LinkError(reason))
        self.waiting.clear()


def _watch_peer(sock: socket.socket) -> None:
    """A partition of 30 s shows even when nothing is being said."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 10)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 4)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 30_000)


def _sent(command: Command) -> Command:
    return Command(code=0, opaque=command.opaque, flag=1, binary=command.binary)


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"TLS: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS: {error.reason or error}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error) or type(error).__name__
