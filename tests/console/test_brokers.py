"""Brokers that come, fall silent and die, and what the feed says of it."""

import re

from playwright.async_api import Route, expect

from tests.console.broker import Broker, topics
from tests.console.conftest import Open, Register
from tests.console.nameserver import NameServer


async def _leave_waiting(route: Route) -> None:
    pass


async def test_a_broker_dies(shared: NameServer, open_page: Open, register: Register) -> None:
    page = await open_page(shared)
    await expect(page.locator("#clusters")).to_contain_text("No broker has registered.")
    await expect(page.locator("#feed-state")).to_have_text("Live")
    await expect(page.locator("#peers")).to_be_hidden()

    master = await register(
        Broker("pair", address="10.0.0.1:10911", topics=topics(["t1", "t2"])), shared.remoting
    )
    slave = await register(Broker("pair", id=1, address="10.0.0.2:10911"), shared.remoting)
    rows = page.locator("#clusters .rows [role=row]")
    await expect(rows).to_have_count(2)
    await expect(rows.nth(0)).to_contain_text("master10.0.0.1:10911")
    await expect(rows.nth(1)).to_contain_text("slave 110.0.0.2:10911")
    await expect(rows.nth(0)).to_contain_text("of 2 min")
    await expect(rows.nth(0)).to_contain_text("remoting")

    # With no further answer about brokers, ages tick on and who dies goes at once.
    await page.route("**/v1/brokers", _leave_waiting)
    await expect(rows.nth(0)).to_contain_text(re.compile("[1-9] s of 2 min"))
    await master.die()
    await expect(rows).to_have_count(1)
    await expect(rows.nth(0)).to_contain_text("slave 1, no master")
    await expect(page.locator(".cluster summary")).to_contain_text("1 without master")
    await expect(page.locator("#feed")).to_contain_text("pair lost master 10.0.0.1:10911")

    await slave.die()
    await expect(page.locator("#clusters")).to_contain_text("No broker has registered.")
    await expect(page.locator("#feed")).to_contain_text("pair left cluster main")
    await expect(page.locator("#facts")).to_contain_text("0 in 0 groups")


async def test_a_silent_broker_turns_red(
    shared: NameServer, open_page: Open, register: Register
) -> None:
    await register(Broker("calm", topics=topics(["a", "b"])), shared.remoting)
    silent = await register(
        Broker("silent", address="10.0.0.9:10911", timeout_ms=2000), shared.remoting
    )
    page = await open_page(shared)
    row = page.get_by_role("row", name="silent")
    await expect(row).to_have_attribute("data-level", "late")
    await expect(row).to_contain_text("of 2 s, late")
    await expect(page.locator("#brokers-note")).to_have_text("1 broker late")
    await expect(page.get_by_role("row", name="calm")).to_have_attribute("data-level", "good")

    # A beat is seen when the ages are asked for again.
    silent.timeout_ms = 120_000
    await silent.register(shared.remoting)
    await expect(row).to_have_attribute("data-level", "good")
    await expect(page.locator("#brokers-note")).to_have_text("")


async def test_the_feed_is_bounded_and_can_be_paused(
    shared: NameServer, open_page: Open, register: Register
) -> None:
    page = await open_page(shared)
    await expect(page.locator("#feed-state")).to_have_text("Live")
    # Alternating brokers, so that no two changes are told as one.
    pair = [Broker(name, topics=topics(["a", "b"])) for name in ("ping", "pong")]
    for broker in pair:
        await register(broker, shared.remoting)
    lines = page.locator("#feed .line")
    await expect(lines.first).to_contain_text("on pong")

    await page.get_by_role("button", name="Pause").click()
    told = await lines.first.inner_text()
    for round_ in range(20):
        for broker in pair:
            broker.topics = topics([f"r{round_}-{i}" for i in range(4)])
            broker.version = round_ + 2
            await broker.register(shared.remoting)
        for broker in pair:
            await broker.die()
            await broker.register(shared.remoting)
    await expect(page.get_by_role("button", name="Resume (")).to_be_visible()
    assert await lines.first.inner_text() == told
    await page.get_by_role("button", name="Resume").click()
    await expect(lines.first).not_to_have_text(told)
    assert await lines.count() <= 300
