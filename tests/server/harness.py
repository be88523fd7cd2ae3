"""A real server on a loopback port, and peers on real sockets."""

import asyncio
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import uvloop

from signpost_namesrv.server.door import Door
from signpost_namesrv.server.limits import Limits
from signpost_namesrv.server.server import Server
from tests.support.remoting import Answer, parse, request
from tests.support.world import World, registration

LOOPS = [
    pytest.param(asyncio.new_event_loop, id="asyncio"),
    pytest.param(uvloop.new_event_loop, id="uvloop"),
]
PATIENCE = 20.0
GONE = (ConnectionError, ssl.SSLError)  # not OSError: a TimeoutError is one too


def run(work: Callable[[], Awaitable[None]], factory: Any = uvloop.new_event_loop) -> None:
    """Run a test's coroutine in a loop of its own."""
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(_within(work))


async def _within(work: Callable[[], Awaitable[None]]) -> None:
    async with asyncio.timeout(2 * PATIENCE):
        await work()


def both_loops(test: Callable[[], Awaitable[None]]) -> Any:
    """The test on asyncio's own loop and on uvloop."""

    @pytest.mark.parametrize("factory", LOOPS)
    def on_loop(factory: Any) -> None:
        run(test, factory)

    on_loop.__name__ = getattr(test, "__name__")  # noqa: B009
    on_loop.__doc__ = test.__doc__
    return on_loop


async def until(condition: Callable[[], object]) -> None:
    """Wait for something that the other side's doing makes true."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - there is no event for all of it
            await asyncio.sleep(0.002)


class Serving:
    """The server and what it works on. Its clocks stand still until a test moves them."""

    def __init__(self, limits: Limits | None, door: Door | None, **more: Any) -> None:
        self.world = World()
        self.time = 1_000.0
        self.server = Server(self.world.state, limits, door, **more)
        self.server.now = lambda: self.time
        self.port = 0
        self.clients: list[Client] = []

    @property
    def tables(self) -> Any:
        return self.world.state.tables

    async def connect(self, **more: Any) -> "Client":
        client = Client(*await asyncio.open_connection("127.0.0.1", self.port, **more))
        self.clients.append(client)
        return client

    async def good(self) -> "Client":
        """A client that was served once, so that it is surely accepted."""
        client = await self.connect()
        assert (await client.ask(106)).code == 0
        return client

    async def disconnect(self) -> None:
        for client in self.clients:
            client.close()
        for client in self.clients:
            with suppress(*GONE):
                await client.writer.wait_closed()

    @property
    def peers(self) -> set[Any]:
        return set(self.server._connections)

    def at_rest(self) -> bool:
        """Whether nothing is left of any peer."""
        server = self.server
        loops = 2  # the scan and the watch
        return (
            server.connections == 0
            and server._buffered == 0
            and not server._gone
            and not server._answering
            and len(server._tasks) == loops
            and server.writer._idle.is_set()
        )


@asynccontextmanager
async def serving(
    limits: Limits | None = None, door: Door | None = None, **more: Any
) -> AsyncIterator[Serving]:
    """Start, and afterwards see that all that came has gone without a trace."""
    it = Serving(limits, door, **more)
    it.port = await it.server.start("127.0.0.1", 0)
    try:
        yield it
        await it.disconnect()
        await until(it.at_rest)
    finally:
        await it.disconnect()
        await it.server.stop(1.0)


class Client:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, data: bytes) -> None:
        if not self.writer.is_closing():
            self.writer.write(data)

    async def ask(
        self, code: int, fields: Mapping[str, Any] | None = None, body: bytes = b"", **more: Any
    ) -> Answer:
        self.send(request(code, fields, body, **more))
        answer = await self.read()
        assert answer is not None
        assert answer.opaque == more.get("opaque", 1)
        return answer

    async def register(self, *args: Any, **more: Any) -> Answer:
        return await self.ask(103, *registration(*args, **more))

    async def read(self) -> Answer | None:
        """The next frame, or None when the connection was closed."""
        try:
            async with asyncio.timeout(PATIENCE):
                size = await self.reader.readexactly(4)
                rest = await self.reader.readexactly(struct.unpack(">I", size)[0])
        except (asyncio.IncompleteReadError, *GONE):
            return None
        return parse(size + rest)

    async def closed(self) -> bool:
        """Wait until the other side has closed; whatever comes before is dropped."""
        with suppress(*GONE):
            async with asyncio.timeout(PATIENCE):
                while await self.reader.read(1 << 16):
                    pass
        return True

    def close(self) -> None:
        self.writer.transport.abort()
