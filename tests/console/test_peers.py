"""Two name servers that disagree, and agree again."""

import asyncio

from playwright.async_api import expect

from tests.console.broker import Broker, topics
from tests.console.conftest import Open, Register, Serve
from tests.console.nameserver import free_port


async def test_disagreement(serve: Serve, open_page: Open, register: Register) -> None:
    ports = [free_port(), free_port()]
    urls = ",".join(f"http://127.0.0.1:{port}" for port in ports)
    known = {"peerUrls": urls, "peerPollSeconds": 1, "disagreeAfterSeconds": 1}
    here, there = await asyncio.gather(*(serve(httpPort=port, **known) for port in ports))
    await register(
        Broker("both", topics=topics(["shared-1", "shared-2"])), here.remoting, there.remoting
    )
    page = await open_page(here)
    rows = page.locator("#peer-rows [role=row]")
    await expect(rows).to_have_count(2)
    await expect(rows.nth(0)).to_contain_text("this server")
    await expect(rows.nth(1)).to_contain_text("agrees")
    await expect(page.locator("#peers-note")).to_have_text("All agree")

    lone = Broker("lone", address="10.0.0.7:10911", topics=topics(["only-1", "only-2"]))
    await register(lone, here.remoting)
    await expect(rows.nth(1)).to_have_attribute("data-level", "bad")
    await expect(rows.nth(1)).to_contain_text("disagrees")
    await expect(rows.nth(1)).to_contain_text("routes, since")
    await expect(page).to_have_title(f"Name servers disagree: 127.0.0.1:{here.remoting} · Signpost")

    await page.get_by_role("button", name="Show differences").click()
    region = page.get_by_role("region", name=f"Differences from 127.0.0.1:{there.remoting}")
    topics_table = region.get_by_role("table", name="Topics")
    await expect(topics_table).to_contain_text("only-1")
    await expect(topics_table).to_contain_text("on lone: 4 to read, 4 to write")
    await expect(topics_table).to_contain_text("missing")
    await expect(topics_table).not_to_contain_text("shared-1")
    await expect(region.get_by_role("table", name="Brokers")).to_contain_text("10.0.0.7:10911")

    await page.set_viewport_size({"width": 360, "height": 740})
    assert await page.evaluate("document.documentElement.scrollWidth") == 360

    await lone.register(there.remoting)
    await expect(rows.nth(1)).to_contain_text("agrees")
    await expect(rows.nth(1)).to_have_attribute("data-level", "good")
    await expect(region).to_be_hidden()
    await expect(page).to_have_title(f"127.0.0.1:{here.remoting} · Signpost")

    await there.stop()
    await expect(rows.nth(1)).to_contain_text("unreachable")
