"""The change log over HTTP: pages, long polls, lost revisions, watchers."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import TypeAdapter

from signpost_namesrv.http.changes import Changes
from signpost_namesrv.http.feed import FEED, Feed
from signpost_namesrv.routes.model import StaticMapping

from .conftest import House, OpenHouse


def feed_of(house: House) -> Feed:
    assert house.client.app is not None
    feed: Feed = house.client.app[FEED]
    return feed


async def until_waiting(house: House, readers: int = 1) -> None:
    """Until so many readers wait for the bell."""
    while len(feed_of(house)._waiting) < readers:  # noqa: ASYNC110 - there is no event for it
        await asyncio.sleep(0)


async def test_pages_of_changes_join_up(house: House) -> None:
    house.register("a", [f"t{n}" for n in range(50)], filter_servers=["f:1"])
    house.tables.put_mapping("t1", "a", StaticMapping("t1", "a"), 1)
    since, revisions, kinds = 0, [], set()
    while True:
        document = await house.get(f"/v1/changes?since={since}&limit=20")
        TypeAdapter(Changes).validate_python(document)
        assert document["since"] == since
        if not document["changes"]:
            break
        revisions += [change["revision"] for change in document["changes"]]
        kinds |= {change["kind"] for change in document["changes"]}
        since = document["revision"]
    assert revisions == list(range(1, house.tables.revision + 1))
    assert kinds == {"queues", "group", "member", "mapping", "filters"}
    assert document["head"] == house.tables.revision
    assert document["digest"] == str(house.tables.digest)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("since=0", "has left the log, which knows what came after"),
        ("since=999999", "is not there yet"),
        ("since=60&identity=another", "another life"),
    ],
)
async def test_a_lost_revision_is_gone(open_house: OpenHouse, query: str, why: str) -> None:
    house = await open_house(log_size=10)
    house.register("a", [f"t{n}" for n in range(60)])
    problem = await house.get(f"/v1/changes?{query}", 410)
    assert why in problem["detail"]
    assert "/v1/snapshot" in problem["detail"]
    assert problem["errors"][0]["name"] == "since"


async def test_the_oldest_known_revision_is_not_lost(open_house: OpenHouse) -> None:
    house = await open_house(log_size=10)
    house.register("a", [f"t{n}" for n in range(60)])
    oldest = (await house.get("/v1/status"))["oldest_revision"]
    document = await house.get(f"/v1/changes?since={oldest}&identity={house.context.identity}")
    assert len(document["changes"]) == 10
    await house.get(f"/v1/changes?since={oldest - 1}", 410)


async def test_a_long_poll_ends_with_the_change(house: House) -> None:
    asked = asyncio.create_task(house.get("/v1/changes?since=0&wait=60"))
    await until_waiting(house)
    house.register("a", ["T", "U"])
    document = await asked
    assert document["revision"] == document["head"] == 4
    assert feed_of(house).readers == 0


async def test_a_long_poll_ends_with_its_time(house: House) -> None:
    document = await house.get("/v1/changes?since=0&wait=0.01")
    assert document["changes"] == []
    assert document["revision"] == 0


async def test_too_many_waiters_are_told_to_come_later(open_house: OpenHouse) -> None:
    house = await open_house(max_watchers=1)
    asked = asyncio.create_task(house.get("/v1/changes?since=0&wait=60"))
    await until_waiting(house)
    await house.get("/v1/changes?since=0&wait=1", 503)
    await house.get("/v1/watch", 503)
    await house.get("/v1/changes?since=0")  # one that does not wait needs no seat
    feed_of(house).close()
    await asked


@dataclass
class Event:
    kind: str
    id: str
    data: Any


class Watcher:
    """A reader of server-sent events, as a browser reads them."""

    def __init__(self, response: Any) -> None:
        self._content = response.content
        self.comments = 0

    async def next(self) -> Event | None:
        fields: dict[str, str] = {}
        async for raw in self._content:
            line = raw.decode().rstrip("\n")
            if line.startswith(":"):
                self.comments += 1
            elif line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif fields:
                return Event(fields["event"], fields["id"], json.loads(fields["data"]))
        return None


@asynccontextmanager
async def watching(
    house: House, last: str | None = None, query: str = ""
) -> AsyncIterator[Watcher]:
    headers = {} if last is None else {"Last-Event-ID": last}
    async with house.client.get(f"/v1/watch{query}", headers=headers) as response:
        assert response.status == 200, await response.text()
        assert response.headers["Content-Type"].startswith("text/event-stream")
        yield Watcher(response)


async def test_a_watcher_sees_what_happens(house: House) -> None:
    house.register("a", ["T", "U"])
    async with watching(house) as watcher:
        hello = await watcher.next()
        assert hello is not None
        assert hello.kind == "hello"
        assert hello.id == f"{house.context.identity}:4"
        await until_waiting(house)
        house.register("b", ["T", "U"])
        event = await watcher.next()
        assert event is not None
        assert (event.kind, event.id) == ("changes", f"{house.context.identity}:8")
        TypeAdapter(Changes).validate_python(event.data)
        assert [change["revision"] for change in event.data["changes"]] == [5, 6, 7, 8]


async def test_a_watcher_comes_back_where_it_was(house: House) -> None:
    house.register("a", ["T", "U"])
    last = f"{house.context.identity}:1"
    for options in ({"last": last}, {"query": f"?since=1&identity={house.context.identity}"}):
        async with watching(house, **options) as watcher:
            hello, event = await watcher.next(), await watcher.next()
            assert hello is not None
            assert event is not None
            assert hello.data["revision"] == 1
            assert [change["revision"] for change in event.data["changes"]] == [2, 3, 4]


async def test_a_watcher_of_another_life_must_resync(house: House) -> None:
    house.register("a", ["T", "U"])
    async with watching(house, last="some-other-life:2") as watcher:
        event = await watcher.next()
        assert event is not None
        assert event.kind == "resync"
        assert "another life" in event.data["reason"]
        assert event.id == f"{house.context.identity}:4"
        await until_waiting(house)  # and the stream goes on from there
        house.register("b", ["T", "U"])
        following = await watcher.next()
        assert following is not None
        assert following.data["since"] == 4


async def test_a_watcher_that_falls_behind_is_told_and_closed(open_house: OpenHouse) -> None:
    house = await open_house(log_size=20)
    async with watching(house) as watcher:
        assert (await watcher.next()) is not None
        await until_waiting(house)
        house.register("a", [f"t{n}" for n in range(60)])  # more than the log holds
        event = await watcher.next()
        assert event is not None
        assert event.kind == "resync"
        assert event.data["revision"] == house.tables.revision
        assert await watcher.next() is None
    assert feed_of(house).resyncs == 1


async def test_a_silent_stream_shows_signs_of_life(open_house: OpenHouse) -> None:
    house = await open_house(beat=0.01)
    async with watching(house) as watcher:
        await watcher.next()
        beat = await watcher._content.readline()
        assert beat.startswith(b": ")


async def test_watchers_go_home_with_the_server(house: House) -> None:
    async with watching(house) as watcher:
        await watcher.next()
        await until_waiting(house)
        feed_of(house).close()
        assert await watcher.next() is None


async def test_a_bad_event_id_is_named(house: House) -> None:
    async with house.client.get("/v1/watch", headers={"Last-Event-ID": "nonsense"}) as response:
        assert response.status == 400
        problem = await response.json()
    assert problem["errors"] == [
        {
            "in": "header",
            "name": "Last-Event-ID",
            "value": "nonsense",
            "remedy": "send the id of an event as it came, IDENTITY:REVISION",
        }
    ]
