"""Name servers and brokers of the tests' own, in the test's event loop."""

from __future__ import annotations

import asyncio
import itertools
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from signpost_namesrv.app.nameserver import NameServer, open_parts
from signpost_namesrv.settings import Settings
from signpost_namesrv.sidecar.endpoint import Endpoint
from signpost_namesrv.wire.command import Command, decode_frame, encode_frame
from signpost_namesrv.wire.frames import FrameCutter
from tests.conformance.bodies import Registration, Topic, crc

CLUSTER = "c"
SYSTEM = ("SELF_TEST_TOPIC", "SCHEDULE_TOPIC_XXXX")


async def until(condition: Callable[[], object], what: str = "", seconds: float = 10.0) -> None:
    """Wait until something holds."""
    try:
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110 - conditions of others, not ours to signal
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"did not happen: {what or condition}") from None


class Doorman(asyncio.Protocol):
    """Somebody listens: he takes every call and hangs up."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.abort()


class Server:
    """One of our name servers; `port` stays the same over restarts."""

    def __init__(self, folder: Path, tls: Mapping[str, Any] | None = None) -> None:
        self.port = 0
        self._tls = tls
        self._folder = folder
        self._running: NameServer | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def running(self) -> NameServer:
        assert self._running is not None
        return self._running

    async def start(self) -> Server:
        network = {"bind_address": "127.0.0.1", "listen_port": self.port, "http_port": -1}
        files = {"kv_config_path": self._folder / "kv.json"}
        groups = {"network": network, "files": files, "tls": self._tls or {}}
        settings = Settings.model_validate(groups)
        server = NameServer(settings, *open_parts(settings))
        await server.start()
        self.port = server.server._server.sockets[0].getsockname()[1]
        self._running = server
        return self

    async def stop(self) -> None:
        if self._running is not None:
            for connection in list(self._running.server._connections):
                connection.abort()
            await self._running.server.stop(1)
            self._running = None

    def queues(self, topic: str) -> dict[str, tuple[int, int, int]]:
        """Read queues, write queues and permission of a topic by broker."""
        entries = self.running.state.tables.topics.get(topic, ())
        return {q.broker: (q.read, q.write, q.perm) for q in entries}

    def topics(self) -> set[str]:
        return set(self.running.state.tables.topics)

    def brokers(self) -> dict[str, dict[int, str]]:
        return {n: dict(g.addresses) for n, g in self.running.state.tables.groups.items()}


@asynccontextmanager
async def servers(count: int, tls: Mapping[str, Any] | None = None) -> AsyncIterator[list[Server]]:
    with tempfile.TemporaryDirectory(prefix="signpost-test-") as folder:
        made = [await Server(Path(folder) / str(n), tls).start() for n in range(count)]
        try:
            yield made
        finally:
            for server in made:
                await server.stop()


class Broker(asyncio.Protocol):
    """A broker as a sidecar sees it."""

    def __init__(self, name: str = "a", number: int = 0, address: str = "10.0.0.1:10911") -> None:
        self.name, self.number, self.address = name, number, address
        self.pushed: list[Command] = []
        self._cutter = FrameCutter(1 << 28, 1 << 20)
        self._opaques = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Command]] = {}
        self._transport: asyncio.Transport

    async def connect(self, port: int) -> Broker:
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self, "127.0.0.1", port)
        return self

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        for frame in self._cutter.feed(data):
            command = decode_frame(frame)
            if command.is_response:
                self._waiting.pop(command.opaque).set_result(command)
            else:
                self.pushed.append(command)

    def hang_up(self) -> None:
        self._transport.abort()

    async def ask(
        self, code: int, fields: Mapping[str, str] | None = None, body: bytes = b"", flag: int = 0
    ) -> Command:
        opaque = next(self._opaques)
        command = Command(code=code, opaque=opaque, fields=fields, body=body, flag=flag)
        answer = asyncio.get_running_loop().create_future()
        self._waiting[opaque] = answer
        self._transport.write(encode_frame(command))
        async with asyncio.timeout(20):
            return await answer  # type: ignore[no-any-return]

    @property
    def identity(self) -> dict[str, str]:
        return {
            "clusterName": CLUSTER,
            "brokerName": self.name,
            "brokerId": str(self.number),
            "brokerAddr": self.address,
        }

    async def register(
        self, *topics: str | Topic, counter: int = 1, full: bool = True, **more: str
    ) -> Command:
        """Register; a full table has the system topics of a stock broker."""
        body = table(self.name, *topics, counter=counter, full=full).plain()
        return await self.register_body(body, **more)

    async def register_body(self, body: bytes, **more: str) -> Command:
        fields = self.identity | {"haServerAddr": "10.0.0.1:10912", "bodyCrc32": crc(body)}
        return await self.ask(103, fields | {"compressed": "false"} | more, body)

    async def query(self, counter: int = 1) -> Command:
        return await self.ask(
            322, self.identity, json.dumps(Registration(counter=counter).version).encode()
        )


def table(name: str, *topics: str | Topic, counter: int = 1, full: bool = True) -> Registration:
    """What a stock broker of that name registers."""
    names: Sequence[Any] = (*SYSTEM, name, *topics) if full else topics
    return Registration([Topic(t) if isinstance(t, str) else t for t in names], counter=counter)


def named(endpoints: list[Endpoint], address: str) -> Endpoint:
    return next(e for e in endpoints if e.address == address)
