"""The listening socket, all its connections, and the clockwork that watches over them."""

import asyncio
import socket
import time
from collections.abc import Coroutine, Generator
from typing import Any

from signpost_namesrv import logs
from signpost_namesrv.dispatch import brokers
from signpost_namesrv.dispatch.fastpath import FastPath
from signpost_namesrv.dispatch.state import State
from signpost_namesrv.routes import removal
from signpost_namesrv.routes.model import MinIdChange

from .connection import Connection
from .door import Door, OpenDoor
from .limits import Limits
from .notifier import Notifier
from .writer import Writer

log = logs.get("server")


class Server:
    """Serves one name server's state on one TCP port."""

    def __init__(
        self,
        state: State,
        limits: Limits | None = None,
        door: Door | None = None,
        *,
        scan_interval: float = 5.0,
    ) -> None:
        self.state = state
        self.limits = limits or Limits()
        self.door = door or OpenDoor()
        self.stats = state.stats
        self.fastpath = FastPath()
        self.clock = time.perf_counter
        self.now = time.monotonic
        self._scan_interval = scan_interval
        self._connections: set[Connection] = set()
        self._empty = asyncio.Event()
        self._empty.set()
        self._gone: set[Connection] = set()
        self._buffered = 0
        self._notifier = Notifier()
        self._tasks: set[asyncio.Task[None]] = set()
        self._answering: set[asyncio.Task[None]] = set()
        self._refusal_logged = -1.0
        self._server: asyncio.Server
        self.writer: Writer
        state.tables.log.subscribe(self.fastpath.route_changed)
        state.notify = self._notify

    @property
    def connections(self) -> int:
        """How many peers there are."""
        return len(self._connections)

    async def start(self, host: str, port: int, backlog: int = 1024) -> int:
        """Listen; the port that was taken."""
        loop = asyncio.get_running_loop()
        self.writer = Writer(loop)
        sock = listening_socket(host, port, self.limits.peer_timeout)
        self._server = await loop.create_server(
            lambda: Connection(self), sock=sock, backlog=backlog
        )
        self.spawn(self._scan())
        self.spawn(self._watch())
        return int(sock.getsockname()[1])

    async def stop(self, grace: float) -> None:
        """Accept no more, let what is under way end, close; within `grace` seconds."""
        self._server.close()
        try:
            async with asyncio.timeout(grace):
                await self.writer.drained()
                while self._answering:
                    await asyncio.wait(self._answering)
                for connection in list(self._connections):
                    connection.finish()
                await self._empty.wait()
        except TimeoutError:
            log.warning("grace period is over", connections=len(self._connections))
        for connection in list(self._connections):
            connection.abort()
        left = [*self._tasks, *self._answering]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something beside the connections, until it ends or the server does."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("background work failed", error=error)

    def spawn_answer(self, work: Coroutine[Any, Any, None]) -> None:
        """The same for work that a peer waits for: it is finished before the server stops."""
        task = asyncio.get_running_loop().create_task(work)
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    def _notify(self, change: MinIdChange) -> None:
        for address in change.targets:
            self.spawn(self._notifier.tell(address, change))

    # what connections call

    def admit(self, connection: Connection) -> bool:
        """Whether there is room for one more."""
        if len(self._connections) >= self.limits.max_connections:
            self.stats.connections_refused += 1
            if self.now() - self._refusal_logged >= 1.0:
                self._refusal_logged = self.now()
                log.warning("too many connections", limit=self.limits.max_connections)
            return False
        self.stats.connections_accepted += 1
        self._connections.add(connection)
        self._empty.clear()
        return True

    def knows(self, connection: Connection) -> bool:
        """Whether this connection was admitted and is not gone."""
        return connection in self._connections

    def reserve(self, size: int) -> bool:
        """Take (or, negative, give back) memory for unfinished frames."""
        if size > 0 and self._buffered + size > self.limits.max_buffered:
            return False
        self._buffered += size
        return True

    def hold(self, size: int) -> None:
        """Count (or, negative, count no more) memory of requests that wait for their turn."""
        self._buffered += size

    def gone(self, connection: Connection) -> None:
        """A connection closed: its brokers go, together with those of others that close now."""
        self._connections.discard(connection)
        if not self._connections:
            self._empty.set()
        if not self._gone:
            asyncio.get_running_loop().call_soon(self._remove_gone)
        self._gone.add(connection)

    # removals

    def _remove_gone(self) -> None:
        closed, self._gone = self._gone, set()
        tables = self.state.tables

        def job() -> Generator[None, None, int]:
            leaving = [d for c in closed for d in removal.departures_of(tables, c)]
            yield from brokers.remove(self.state, leaving, "connection closed")
            return len(leaving)

        self.writer.submit(job(), lambda _: None)

    async def _scan(self) -> None:
        """Every so often, remove the brokers that have been silent for too long."""
        while True:
            await asyncio.sleep(self._scan_interval)
            self.writer.submit(self._expire(), lambda _: None)

    def _expire(self) -> Generator[None, None, None]:
        silent = removal.expired(self.state.tables, self.state.now_ms())
        for live in silent:
            if isinstance(live.connection, Connection):
                live.connection.close("its broker was silent", broker=live.name)
        leaving = [removal.departure_of(live) for live in silent]
        yield from brokers.remove(self.state, leaving, "silent")

    # watching

    async def _watch(self) -> None:
        """Once a second, drop connections that are idle or do not take their answers."""
        while True:
            await asyncio.sleep(1.0)
            self._check_connections()

    def _check_connections(self) -> None:
        now = self.now()
        for connection in list(self._connections):
            if connection.active:
                connection.active = False
                connection.last_active = now
            elif self.limits.idle and now - connection.last_active > self.limits.idle:
                connection.close("idle")
            stalled = connection.stalled_since
            if stalled is not None and now - stalled > self.limits.write_stall:
                connection.close("does not read its answers")


def listening_socket(host: str, port: int, peer_timeout: int) -> socket.socket:
    """A bound socket whose connections notice a vanished peer; they inherit its options."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        interval = max(1, peer_timeout // 6)
        probes = {
            "TCP_KEEPIDLE": max(1, peer_timeout - 4 * interval),
            "TCP_KEEPINTVL": interval,
            "TCP_KEEPCNT": 4,
            "TCP_USER_TIMEOUT": peer_timeout * 1000,
        }
        for name, value in probes.items():
            if option := getattr(socket, name, None):  # not every system has them all
                sock.setsockopt(socket.IPPROTO_TCP, option, value)
        sock.bind((host, port))
        sock.setblocking(False)
    except OSError as e:
        sock.close()
        raise OSError(e.errno, f"{host}:{port}: {e.strerror}") from e
    return sock
