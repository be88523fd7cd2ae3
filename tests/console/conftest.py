"""The console in a real Chromium, before real name servers with brokers on real sockets."""

import re
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, ConsoleMessage, Locator, Page, Request, expect

from tests.console import browser as chromium
from tests.console.broker import Broker
from tests.console.nameserver import NameServer, start

HERE = Path(__file__).parent
PATIENCE = 15_000
_missing = 0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here shares one browser, hence one event loop."""
    global _missing
    ours = [item for item in items if HERE in item.path.parents]
    path = chromium.find() if ours else None
    for item in ours:
        item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
        if path is None:
            item.add_marker(pytest.mark.skip(reason="there is no Chromium"))
            _missing += 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say aloud what was not tried."""
    if _missing:
        terminalreporter.section("CONSOLE NOT TESTED", yellow=True, bold=True)
        terminalreporter.line(
            f"{_missing} tests skipped: install chromium, or run as root on Debian"
        )


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    path = chromium.find()
    assert path is not None
    expect.set_options(timeout=PATIENCE)
    async with chromium.launch(path) as launched:
        yield launched


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[NameServer]:
    """A name server for tests that leave it as they found it: without brokers."""
    folder = tmp_path_factory.mktemp("shared")
    server = await start(folder, scanNotActiveBrokerInterval=3_600_000)
    yield server
    await server.stop()


Serve = Callable[..., Coroutine[Any, Any, NameServer]]


@pytest_asyncio.fixture(loop_scope="session")
async def serve(tmp_path: Path) -> AsyncIterator[Serve]:
    """Starts name servers of the test's own, with settings by their keys."""
    async with AsyncExitStack() as stack:
        folders = count()

        async def serve_one(**settings: object) -> NameServer:
            server = await start(tmp_path / f"server-{next(folders)}", **settings)
            stack.push_async_callback(server.stop)
            return server

        yield serve_one


@dataclass
class Watched:
    """What a page did that a good page does not do."""

    origin: str
    faults: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    """Patterns of faults that the test itself brings about."""

    def follow(self, page: Page) -> None:
        page.on("console", self._logged)
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("request", self._requested)
        page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))

    def unexpected(self) -> list[str]:
        return [f for f in self.faults if not any(re.search(e, f) for e in self.expected)]

    def _logged(self, message: ConsoleMessage) -> None:
        """Violations of the Content-Security-Policy come this way, too."""
        if message.type in ("error", "warning"):
            self.faults.append(f"{message.type}: {message.text}")

    def _requested(self, request: Request) -> None:
        if not request.url.startswith((self.origin, "data:image/")):
            self.faults.append(f"foreign request: {request.url}")


def options(page: Page, **filters: Any) -> Locator:
    """Rows of the topic list."""
    return page.locator("#topic-list").get_by_role("option", **filters)


Register = Callable[..., Coroutine[Any, Any, Broker]]


@pytest_asyncio.fixture(loop_scope="session")
async def register(serve: Serve) -> AsyncIterator[Register]:
    """Registers a broker with name servers, by their ports; all die with the test."""
    async with AsyncExitStack() as stack:

        async def register_one(broker: Broker, *ports: int) -> Broker:
            stack.push_async_callback(broker.die)
            return await broker.register(*ports)

        yield register_one


Open = Callable[..., Coroutine[Any, Any, Page]]


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(browser: Browser, register: Register) -> AsyncIterator[Open]:
    """Opens the console of a server; a page must have behaved until it closes, before all else."""
    watched: list[Watched] = []
    async with AsyncExitStack() as stack:

        async def open_one(
            server: NameServer, path: str = "/", expected: tuple[str, ...] = (), **context: Any
        ) -> Page:
            made = await browser.new_context(
                **({"viewport": {"width": 1440, "height": 900}} | context)
            )
            stack.push_async_callback(made.close)
            page = await made.new_page()
            page.set_default_timeout(PATIENCE)
            watch = Watched(server.url, expected=list(expected))
            watch.follow(page)
            watched.append(watch)
            await page.goto(server.url + path)
            return page

        yield open_one
    assert [fault for watch in watched for fault in watch.unexpected()] == []
