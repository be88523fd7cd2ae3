"""Takes the pictures in docs/images: `python -m tests.console.screenshots FOLDER`."""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, expect

from tests.console.broker import Broker, topics
from tests.console.browser import find, launch
from tests.console.nameserver import NameServer, free_port, start

DESK: dict[str, Any] = {"viewport": {"width": 1360, "height": 900}, "device_scale_factor": 1.5}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
EVENTS = ("cancelled", "created", "delivered", "paid", "returned", "shipped")
SHOPS = ("berlin", "lisbon", "lyon", "oslo", "porto", "riga", "turin")


@dataclass
class Scene:
    """Two name servers and the brokers of two clusters."""

    here: NameServer
    there: NameServer
    brokers: dict[str, Broker]

    @property
    def both(self) -> tuple[int, int]:
        return self.here.remoting, self.there.remoting


@asynccontextmanager
async def scene() -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ports = free_port(), free_port()
        known = {
            "peerUrls": ",".join(f"http://127.0.0.1:{port}" for port in ports),
            "peerPollSeconds": 1,
            "disagreeAfterSeconds": 2,
        }
        servers = []
        for number, port in enumerate(ports):
            address = f"10.42.{number}.17"
            server = await start(
                folder / str(number), httpPort=port, advertiseAddress=address, **known
            )
            stack.push_async_callback(server.stop)
            servers.append(server)
        made = Scene(servers[0], servers[1], {broker.address: broker for broker in brokers()})
        for broker in made.brokers.values():
            stack.push_async_callback(broker.die)
            await broker.register(*made.both)
        yield made


def brokers() -> list[Broker]:
    orders = topics((f"orders.{e}.{s}" for e in EVENTS for s in SHOPS), 8, 8)
    orders |= topics(["%RETRY%billing", "%DLQ%billing", "RMQ_SYS_TRACE_TOPIC"])
    search = topics((f"search.index.{shop}" for shop in SHOPS), 16, 16)
    found = []
    for group, zone in enumerate("abc"):
        for member in (0, 1):
            address = f"10.42.{group}.{20 + member}:10911"
            found.append(
                Broker(f"orders-{zone}", "orders", member, address, f"zone-{zone}", topics=orders)
            )
    for group, zone in enumerate("ab"):
        address = f"10.42.{group}.40:10911"
        found.append(Broker(f"search-{zone}", "search", 0, address, f"zone-{zone}", topics=search))
    return found


async def open_page(browser: Browser, server: NameServer, path: str = "/", **how: Any) -> Page:
    page = await (await browser.new_context(**how)).new_page()
    await page.goto(server.url + path)
    await expect(page.locator("#feed-state")).to_have_text("Live")
    await expect(page.locator("#clusters .rows [role=row]").first).to_be_visible()
    return page


async def show(page: Page, text: str, topic: str) -> None:
    await page.locator("#search").fill(text)
    row = page.locator("#topic-list").get_by_role("option", name=topic)
    await row.click()
    await expect(page.locator("#route .column").first).to_be_visible()


async def take(page: Page, file: Path) -> None:
    await page.mouse.move(0, 0)
    await page.screenshot(path=file)
    await page.context.close()


async def main(folder: Path) -> None:
    path = find()
    assert path, "there is no Chromium"
    async with launch(path) as browser, scene() as s:
        await s.brokers["10.42.1.21:10911"].die()
        await s.brokers["10.42.1.21:10911"].register(*s.both)
        page = await open_page(browser, s.here, **DESK, color_scheme="light")
        await expect(page.locator("#peers-note")).to_have_text("All agree")
        await show(page, "paid", "orders.paid.oslo")
        await take(page, folder / "console-light.png")

        silent = s.brokers["10.42.2.21:10911"]
        silent.timeout_ms = 16_000
        await silent.register(*s.both)
        for port in s.both:
            await s.brokers["10.42.1.20:10911"].wipe_write(port)
        await s.brokers["10.42.0.40:10911"].die()
        page = await open_page(
            browser, s.here, "/#topic=orders.created.lyon", **DESK, color_scheme="dark"
        )
        await expect(page.locator("#route .column").first).to_be_visible()
        await expect(page.locator("#brokers-note")).to_have_text("1 broker late", timeout=20_000)
        await take(page, folder / "console-dark.png")

        await silent.register(*s.both)
        await s.brokers["10.42.0.40:10911"].register(s.here.remoting)
        page = await open_page(browser, s.here, **DESK, color_scheme="light")
        await page.get_by_role("button", name="Show differences").click()
        await expect(page.locator(".difference").first).to_be_visible()
        await expect(page.locator("#peer-rows")).to_contain_text("disagrees", timeout=20_000)
        await take(page, folder / "console-disagree.png")

        page = await open_page(browser, s.here, **PHONE, color_scheme="light")
        await take(page, folder / "console-phone.png")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
