"""By keyboard, on a phone, in both colour schemes, and with closed doors."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.console.broker import Broker, topics
from tests.console.conftest import Open, Register, Serve, options
from tests.console.nameserver import NameServer, free_port

LONG = "a-topic-with-a-name-that-has-no-end-" * 5
CONTRAST = Path(__file__).with_name("contrast.js")


async def focused(page: Page) -> str:
    return str(await page.evaluate("document.activeElement.id || document.activeElement.innerText"))


async def test_keyboard(shared: NameServer, open_page: Open, register: Register) -> None:
    await register(Broker("keys", topics=topics(["one", "two", "three"])), shared.remoting)
    page = await open_page(shared)
    await expect(options(page)).to_have_count(3)

    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Topics")).to_be_focused()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    await expect(page.locator("#search")).to_be_focused()
    await page.locator("#feed").focus()
    await page.keyboard.press("/")
    await expect(page.locator("#search")).to_be_focused()
    await page.keyboard.type("t/")  # a slash in a search is a slash
    await expect(page.locator("#search")).to_have_value("t/")
    await page.keyboard.press("Backspace")
    await expect(options(page)).to_have_count(2)
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await expect(page.locator("#search")).to_have_attribute("aria-activedescendant", "topic-list-1")
    await page.keyboard.press("Enter")
    await expect(page.locator("#route-title")).to_have_text("two")
    await expect(options(page, selected=True)).to_have_text("twokeys · 4 r 4 w")

    order = []
    for _ in range(5):
        await page.keyboard.press("Tab")
        order.append(await focused(page))
        ring = "getComputedStyle(document.activeElement).outlineStyle"
        assert await page.evaluate(ring) == "solid"
    assert order == ["search-mode", "topic-list", "Close", "feed-pause", "feed"]

    await page.keyboard.press("Escape")
    await expect(page.locator("#route")).to_be_hidden()
    assert await focused(page) == "search"
    await page.go_back()
    await expect(page.locator("#route-title")).to_have_text("two")


async def test_phone(shared: NameServer, open_page: Open, register: Register) -> None:
    names = [LONG, "short"]
    await register(
        Broker(
            "broker-with-a-rather-long-name-" * 4,
            cluster="cluster-with-a-rather-long-name-" * 4,
            zone="a-zone-with-a-long-name",
            address="a-host-name-that-is-long.messaging.svc.cluster.example:10911",
            topics=topics(names, 16, 16),
        ),
        shared.remoting,
    )
    page = await open_page(
        shared,
        viewport={"width": 360, "height": 740},
        is_mobile=True,
        has_touch=True,
        reduced_motion="reduce",
    )
    await options(page, name=LONG).tap()
    await expect(page.locator("#route .cell")).to_have_count(16 + 4)
    await expect(page.locator("#route-title")).to_be_in_viewport()
    await expect(page.locator("#feed .line").first).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") == 360
    await page.get_by_role("link", name="Changes").tap()
    await expect(page.locator("#changes")).to_be_in_viewport()
    await expect(page.locator("#route")).to_be_visible()
    moves = "getComputedStyle(document.documentElement).scrollBehavior"
    assert await page.evaluate(moves) == "auto"


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_contrast(
    shared: NameServer, open_page: Open, register: Register, scheme: str
) -> None:
    good = await register(Broker("good", topics=topics(["a", "b"])), shared.remoting)
    await register(Broker("late", id=1, address="10.0.0.3:10911", timeout_ms=1000), shared.remoting)
    await good.wipe_write(shared.remoting)
    page = await open_page(shared, path="/#topic=a", color_scheme=scheme)
    await expect(page.locator("#brokers-note")).to_have_text("1 broker late")
    await expect(page.locator("#route .column")).to_have_count(1)
    faint = await page.evaluate(CONTRAST.read_text())
    assert faint == []


async def test_reading_is_closed(tmp_path: Path, open_page: Open, serve: Serve) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("a-token-that-is-long-enough\n")
    server = await serve(httpTokenFile=tokens, httpReadsNeedToken="true")
    page = await open_page(server, expected=("401",))
    dialog = page.get_by_role("dialog", name="Token needed")
    await dialog.get_by_label("Token", exact=True).fill("not the right one")
    await page.keyboard.press("Enter")
    await expect(dialog).to_contain_text("does not know that token")
    await page.keyboard.press("Escape")
    await expect(page.locator("#notice")).to_contain_text("Reading needs a token.")
    await page.get_by_role("button", name="Enter a token").click()
    await dialog.get_by_label("Token", exact=True).fill("a-token-that-is-long-enough")
    await dialog.get_by_role("button", name="Continue").click()
    await expect(page.locator("#ready")).to_have_text("Ready")
    await expect(page.locator("#feed-state")).to_have_text("Live")
    await expect(page.locator("#notice")).to_be_hidden()
    await page.reload()
    await expect(page.locator("#ready")).to_have_text("Ready")
    assert await page.evaluate("localStorage.length + document.cookie.length") == 0


async def test_the_server_goes_and_comes_back(
    serve: Serve, open_page: Open, register: Register
) -> None:
    port = free_port()
    first = await serve(httpPort=port)
    await register(Broker("early", topics=topics(["a", "b"])), first.remoting)
    page = await open_page(first, expected=("ERR_CONNECTION", "ERR_INCOMPLETE", "ERR_EMPTY"))
    await expect(page.locator("#clusters")).to_contain_text("early")
    await first.stop()
    await expect(page.locator("#ready")).to_have_text("No answer")
    await expect(page.locator("#notice")).to_contain_text("What you see is")
    await expect(page.locator("#feed-state")).to_contain_text("Trying again in")

    warming = {"needWaitForService": "true", "expectedBrokers": "later"}
    second = await serve(httpPort=port, **warming)
    await expect(page.locator("#ready")).to_contain_text("Not ready: ")
    await expect(page).to_have_title(re.compile("^Not ready: "))
    await register(Broker("later", topics=topics(["c", "d"])), second.remoting)
    await expect(page.locator("#ready")).to_have_text("Ready")
    await expect(page.locator("#feed")).to_contain_text("another life of this server")
    await expect(page.locator("#clusters")).to_contain_text("later")
    await expect(page.locator("#clusters")).not_to_contain_text("early")
    await expect(page.locator("#topics-note")).to_have_text("2 topics")
