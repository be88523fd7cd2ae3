"""A whole name server in the test's own loop, with a clock that the test moves."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from signpost_namesrv.app.adapters import KvConfig, Remoting
from signpost_namesrv.app.config import RunningConfig
from signpost_namesrv.dispatch.state import State
from signpost_namesrv.dispatch.warmup import Warmup
from signpost_namesrv.http import Context, Options
from signpost_namesrv.http.service import make_app
from signpost_namesrv.kvstore import KvStore
from signpost_namesrv.routes.model import DataVersion, Registration
from signpost_namesrv.routes.registration import register
from signpost_namesrv.routes.tables import Tables
from signpost_namesrv.server.server import Server
from signpost_namesrv.settings import Settings
from signpost_namesrv.wire.registration import TopicConfig

TOKEN = "a-token-that-is-long-enough"
HOLDER = {"Authorization": f"Bearer {TOKEN}"}
START_MS = 1_800_000_000_000


@dataclass
class Clock:
    """Milliseconds that pass when the test says so."""

    ms: int = START_MS

    def __call__(self) -> int:
        return self.ms


class House:
    """One name server: its tables, its remoting port on a free port, its HTTP application."""

    def __init__(self, folder: Path, options: Options, log_size: int, warm: bool) -> None:
        self.clock = Clock()
        self.store = KvStore.open(folder / "kvConfig.json")
        self.state = State(
            tables=Tables(log_size),
            kv=KvConfig(self.store),
            config=RunningConfig(Settings()),
            now_ms=self.clock,
            notify=lambda change: None,
            warmup=Warmup(enabled=not warm, started_ms=START_MS, wait_ms=45_000, expected=["b"]),
        )
        self.server = Server(self.state, scan_interval=3600)
        self.options = options
        self.context: Context
        self.client: TestClient[Any, Any]
        self.port = 0

    @property
    def tables(self) -> Tables:
        return self.state.tables

    async def open(self) -> None:
        self.port = await self.server.start("127.0.0.1", 0)
        self.context = Context(
            state=self.state,
            kv=self.store,
            remoting=Remoting(self.server),
            run_job=self.server.writer.run,
            options=replace(self.options, remoting_port=self.port),
        )
        self.store.add_listener(self.context.kv_changed)
        self.client = TestClient(TestServer(make_app(self.context)))
        await self.client.start_server()

    async def close(self) -> None:
        await self.client.close()
        await self.server.stop(1.0)
        await self.store.flush()

    def register(
        self,
        name: str,
        topics: dict[str, TopicConfig] | list[str],
        *,
        broker_id: int = 0,
        cluster: str = "c",
        address: str | None = None,
        counter: int = 1,
        **fields: Any,
    ) -> None:
        """A broker registers, as if over a connection that is gone from sight."""
        listed = topics if isinstance(topics, dict) else dict.fromkeys(topics, TopicConfig())
        work = register(
            self.tables,
            self.state.policy,
            Registration(
                cluster=cluster,
                name=name,
                broker_id=broker_id,
                address=address or f"10.0.0.{broker_id + 1}:{ord(name[0])}",
                data_version=DataVersion(counter=counter),
                topics=list(listed.items()),
                **fields,
            ),
            self.clock(),
        )
        for _ in work:
            pass

    async def get(self, path: str, status: int = 200, **options: Any) -> Any:
        """The document at a path, whose status must be this."""
        async with self.client.get(path, **options) as response:
            body = await response.json(content_type=None)
            assert response.status == status, body
            return body

    async def send(
        self, method: str, path: str, status: int, json: Any = None, **options: Any
    ) -> Any:
        """A call of a token's holder."""
        headers = options.pop("headers", HOLDER)
        if json is not None:
            options["json"] = json
        async with self.client.request(method, path, headers=headers, **options) as response:
            body = await response.json(content_type=None) if response.status != 204 else None
            assert response.status == status, body
            return body


OpenHouse = Callable[..., Awaitable[House]]


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "tokens"
    path.write_text(f"# for tests\n\n{TOKEN}\n")
    return path


@pytest.fixture
async def open_house(tmp_path: Path, token_file: Path) -> AsyncIterator[OpenHouse]:
    """Makes name servers; closes them at the end."""
    houses: list[House] = []

    async def make(*, log_size: int = 1000, warm: bool = True, **options: Any) -> House:
        folder = tmp_path / f"server-{len(houses)}"
        folder.mkdir()
        options.setdefault("token_file", token_file)
        house = House(folder, Options(**options), log_size, warm)
        houses.append(house)
        await house.open()
        return house

    yield make
    await asyncio.gather(*(house.close() for house in houses))


@pytest.fixture
async def house(open_house: OpenHouse) -> House:
    return await open_house()
