"""One revision, whatever happens meanwhile; the ETag; compression."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter

from signpost_namesrv.http.pace import Pace
from signpost_namesrv.http.snapshot import SNAPSHOTS, Snapshot
from signpost_namesrv.routes.model import StaticMapping
from signpost_namesrv.routes.topics import delete_topic

from .conftest import House, OpenHouse

NAMES = [f"topic-{n:05d}" for n in range(3000)]


def furnish(house: House) -> None:
    house.register("a", NAMES, filter_servers=["10.9.9.9:1"])
    house.register("b", NAMES[:700], cluster="d", zone="z")
    house.tables.put_mapping("topic-00001", "a", StaticMapping("topic-00001", "a", 8), 1)


async def test_the_snapshot_is_what_the_models_say(house: House) -> None:
    furnish(house)
    await house.state.kv.put("ns", "k", "v")
    document = await house.get("/v1/snapshot")
    snapshot = TypeAdapter(Snapshot).validate_python(document)
    tables = house.tables
    assert snapshot.identity == house.context.identity
    assert snapshot.revision == tables.revision
    assert snapshot.digest == str(tables.digest)
    assert snapshot.clusters == {"c": ["a"], "d": ["b"]}
    assert snapshot.brokers["b"].zone == "z"
    assert {live.broker for live in snapshot.live} == {"a", "b"}
    assert [f.servers for f in snapshot.filter_servers] == [["10.9.9.9:1"]]
    assert snapshot.mappings["topic-00001"]["a"].total_queues == 8
    assert snapshot.kv == {"ns": {"k": "v"}}
    assert list(snapshot.topics) == list(tables.topics)
    for topic, queues in tables.topics.items():
        assert [q.broker for q in snapshot.topics[topic]] == [q.broker for q in queues]


async def test_an_empty_server_has_a_snapshot(house: House) -> None:
    document = await house.get("/v1/snapshot")
    assert TypeAdapter(Snapshot).validate_python(document).topics == {}


async def test_each_line_holds_whole_entries(house: House) -> None:
    furnish(house)
    async with house.client.get("/v1/snapshot") as response:
        text = await response.text()
    _, _, topics = text.partition('"topics":{\n')
    lines = topics.removesuffix("\n}\n}\n").split("\n")
    assert len(lines) > 1
    joined: dict[str, Any] = {}
    for line in lines:
        joined |= json.loads("{" + line.rstrip(",") + "}")
    assert list(joined) == NAMES


class Meddling(Pace):
    """Between two slices of the snapshot, everything changes."""

    def __init__(self, change: Callable[[], None]) -> None:
        super().__init__()
        self._change = change
        self.turns = 0

    async def rest(self, began: float, ended: float | None = None) -> float:
        self.turns += 1
        if self.turns == 3:
            self._change()
        return await super().rest(began, ended)


async def test_changes_during_the_writing_do_not_show(house: House) -> None:
    furnish(house)
    before = await house.get("/v1/snapshot")

    def change() -> None:
        for name in NAMES:
            delete_topic(house.tables, name, None, 2)
        house.register("c", ["new", "newer"])

    house.context.pace = meddling = Meddling(change)
    during = await house.get("/v1/snapshot")
    after = await house.get("/v1/snapshot")
    assert meddling.turns > 5
    assert during == before
    assert list(after["topics"]) == ["new", "newer"]
    assert after["digest"] == str(house.tables.digest) != before["digest"]


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [("gzip", True), ("br, gzip;q=0.5", True), ("gzip;q=0", False), ("br", False), ("", False)],
)
async def test_compressed_when_asked(house: House, accepted: str, packed: bool) -> None:
    furnish(house)
    headers = {"Accept-Encoding": accepted}
    async with house.client.get("/v1/snapshot", headers=headers) as response:
        assert ("Content-Encoding" in response.headers) == packed
        assert response.headers["Vary"] == "Accept-Encoding"
        assert len((await response.json())["topics"]) == len(NAMES)


async def test_not_modified_until_something_counts(house: House) -> None:
    furnish(house)

    async def ask(etag: str) -> tuple[int, str, str]:
        headers = {"If-None-Match": etag}
        async with house.client.get("/v1/snapshot", headers=headers) as response:
            await response.read()
            return response.status, response.headers["ETag"], response.headers["Signpost-Revision"]

    status, etag, revision = await ask("none")
    assert (status, revision) == (200, str(house.tables.revision))
    assert await ask(etag) == (304, etag, revision)
    assert await ask(f'"other", {etag.removeprefix("W/")}') == (304, etag, revision)
    for live in house.tables.live.values():
        live.last_update_ms += 1000  # a heartbeat is not covered
    assert (await ask(etag))[0] == 304
    await house.state.kv.put("ns", "k", "v")
    status, etag, _ = await ask(etag)
    assert status == 200
    house.state.draining = True
    status, etag, _ = await ask(etag)
    assert status == 200
    delete_topic(house.tables, NAMES[0], None, 2)
    assert (await ask(etag))[0] == 200


async def test_another_life_has_another_etag(open_house: OpenHouse) -> None:
    one, two = await open_house(), await open_house()
    async with one.client.get("/v1/snapshot") as response:
        etag = response.headers["ETag"]
    await two.get("/v1/snapshot", headers={"If-None-Match": etag})


async def test_too_many_at_once_are_told_to_wait(open_house: OpenHouse) -> None:
    house = await open_house(max_snapshots=1)
    server = house.client.app
    assert server is not None
    server[SNAPSHOTS].open = 1
    problem = await house.get("/v1/snapshot", 503)
    assert "try again" in problem["detail"]
    server[SNAPSHOTS].open = 0
    await house.get("/v1/snapshot")
    assert server[SNAPSHOTS].open == 0
