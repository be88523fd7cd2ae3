"""Finding a topic and reading its route."""

from playwright.async_api import Page, expect

from tests.console.broker import Broker, topics
from tests.console.conftest import Open, Register, Serve, options
from tests.console.nameserver import NameServer

HOSTILE = """<img src=x onerror=alert(1)>"'"""


async def search(page: Page, text: str) -> None:
    await page.get_by_role("combobox", name="Search topics").fill(text)


async def test_search_and_open(shared: NameServer, open_page: Open, register: Register) -> None:
    names = [f"orders-{i:02}" for i in range(30)] + ["invoices", "%RETRY%billing"]
    one = await register(
        Broker("b1", address="10.0.0.1:10911", zone="z1", topics=topics(names)), shared.remoting
    )
    few = topics(["invoices", "refunds"], 2, 6)
    two = await register(Broker("b2", address="10.0.0.2:10911", topics=few), shared.remoting)
    page = await open_page(shared, expected=("404",))
    await expect(page.locator("#topics-note")).to_have_text("33 topics")

    await search(page, "VOI")
    await expect(options(page)).to_have_count(1)
    await expect(page.locator("#topics-note")).to_have_text("1 found")
    await options(page, name="invoices").click()

    columns = page.locator("#route .column")
    await expect(columns).to_have_count(2)
    await expect(columns.nth(0)).to_contain_text("10.0.0.1:10911 master")
    await expect(columns.nth(0)).to_contain_text("main · z1")
    await expect(columns.nth(0).locator(".cell i")).to_have_text(["RW"] * 4)
    await expect(columns.nth(1)).to_contain_text("2 to read, 6 to write")
    await expect(columns.nth(1).locator(".cell i")).to_have_text(["RW"] * 2 + ["W"] * 4)

    # The route follows the tables, and permission is told in words and letters.
    await two.wipe_write(shared.remoting)
    await expect(columns.nth(1)).to_contain_text("2 to read, closed to writers")
    await expect(columns.nth(1).locator(".cell i")).to_have_text(["R"] * 2 + ["-"] * 4)

    await page.get_by_label("Where in the name").select_option("at the start")
    await expect(page.locator("#topics-none")).to_contain_text("No topic fits.")
    await search(page, "%RETRY%")
    await options(page, name="%RETRY%billing").click()
    await expect(page.locator("#route-title")).to_have_text("%RETRY%billing")
    await expect(columns).to_have_count(1)
    await one.die()
    await expect(page.locator("#route")).to_contain_text("No broker has this topic now.")
    await two.die()
    await expect(page.locator("#topics-none")).to_contain_text("No topic fits.")


async def test_topics_of_one_broker(
    shared: NameServer, open_page: Open, register: Register
) -> None:
    for name in ("left", "right"):
        held = topics([f"{name}-a", f"{name}-b"])
        await register(Broker(name, topics=held), shared.remoting)
    page = await open_page(shared)
    await page.get_by_role("button", name="left", exact=True).click()
    await expect(options(page)).to_have_count(2)
    await expect(options(page).first).to_contain_text("left-a")
    await page.get_by_role("button", name="Only topics on left").click()
    await expect(options(page)).to_have_count(4)


async def test_names_are_text(shared: NameServer, open_page: Open, register: Register) -> None:
    await register(
        Broker(
            f"broker{HOSTILE}", cluster=f"cluster{HOSTILE}", topics=topics([HOSTILE, "harmless"])
        ),
        shared.remoting,
    )
    page = await open_page(shared)
    await options(page, name=HOSTILE).first.click()
    await expect(page.locator("#route-title")).to_have_text(HOSTILE)
    await expect(page.locator("#route h4")).to_have_text(f"broker{HOSTILE}")
    await expect(page.locator(".cluster summary .name")).to_have_text(f"cluster{HOSTILE}")
    await expect(page.locator("#feed")).to_contain_text(HOSTILE)
    await page.reload()
    await expect(page.locator("#route-title")).to_have_text(HOSTILE)
    assert await page.locator("img").count() == 0
    answer = await page.request.get(shared.url)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


async def test_a_hundred_thousand_topics(serve: Serve, open_page: Open, register: Register) -> None:
    names = [f"tenant-{i % 100:02}-events-{i:06}" for i in range(100_000)]
    server = await serve()
    broker = await register(Broker("big", many=names), server.remoting)
    page = await open_page(server, expected=("404",))
    await expect(page.locator("#topics-note")).to_have_text("100,000 topics")

    assert await options(page).count() < 60
    # By keyboard over the end of the first pages: further ones are fetched.
    await page.locator("#search").focus()
    active = page.locator(".option[data-active]")
    await page.keyboard.press("ArrowDown")
    while int(await active.get_attribute("aria-posinset") or 0) <= 250:
        await page.keyboard.press("PageDown")
    assert await options(page).count() < 60

    await page.locator("#search").press_sequentially("events-04242")
    await expect(page.locator("#topics-note")).to_have_text("10 found")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(page.locator("#route-title")).to_have_text("tenant-20-events-042420")
    await expect(page.locator("#route .cell")).to_have_count(4 + 4)
    await broker.die()
    await expect(page.locator("#topics-none")).to_contain_text("No topic fits.")
