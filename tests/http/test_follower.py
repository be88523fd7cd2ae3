"""A watcher that disconnects, sleeps, resumes and resyncs ends with the snapshot's state."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from signpost_namesrv.http import Options
from signpost_namesrv.routes import removal
from signpost_namesrv.routes.model import StaticMapping
from signpost_namesrv.routes.topics import delete_topic, set_writable
from signpost_namesrv.wire.registration import TopicConfig

from .conftest import House
from .follower import Follower, normal

Step = tuple[Any, ...]

BROKERS = st.sampled_from("ab")
TOPICS = st.dictionaries(
    st.sampled_from(["T", "U", "V", "%RETRY%g", "x/y"]),
    st.builds(
        TopicConfig,
        read_queue_nums=st.integers(0, 3),
        write_queue_nums=st.integers(0, 3),
        perm=st.integers(0, 7),
    ),
    min_size=2,
)

STEPS = st.one_of(
    st.tuples(st.just("register"), BROKERS, st.integers(0, 2), TOPICS),
    st.tuples(st.just("remove"), BROKERS, st.integers(0, 2)),
    st.tuples(st.just("delete"), st.sampled_from(["T", "U"])),
    st.tuples(st.just("writable"), BROKERS, st.booleans()),
    st.tuples(st.just("mapping"), BROKERS, st.integers(1, 3)),
    st.tuples(st.just("filters"), BROKERS, st.lists(st.just("f:1"), max_size=1)),
    st.tuples(st.just("follow")),
)


def play(house: House, number: int, step: Step) -> None:
    tables, now = house.tables, house.clock()
    house.clock.ms += 1
    match step:
        case ("register", name, broker_id, topics):
            house.register(name, topics, broker_id=broker_id, counter=number)
        case ("remove", name, broker_id):
            address = f"10.0.0.{broker_id + 1}:{ord(name)}"
            leaving = [removal.Departure("c", name, broker_id, address)]
            for _ in removal.remove(tables, house.state.policy, leaving, now):
                pass
        case ("delete", topic):
            delete_topic(tables, topic, None, now)
        case ("writable", name, writable):
            for _ in set_writable(tables, name, writable, now):
                pass
        case ("mapping", name, epoch):
            if tables.queues("T", name) is not None:
                tables.put_mapping("T", name, StaticMapping("T", name, epoch=epoch), now)
        case ("filters", name, servers):
            house.register(name, [], filter_servers=servers, counter=number)


async def follow_along(folder: Path, log_size: int, steps: list[Step]) -> Follower:
    house = House(folder, Options(), log_size, warm=True)
    await house.open()
    follower = Follower(house)
    try:
        for number, step in enumerate(steps):
            if step == ("follow",):
                await follower.follow(house.tables.revision)
            else:
                play(house, number, step)
        await follower.follow(house.tables.revision)
        assert follower.copy == normal(await house.get("/v1/snapshot"))
    finally:
        await house.close()
    return follower


@given(log_size=st.sampled_from([1, 3, 8, 1000]), steps=st.lists(STEPS, max_size=12))
def test_a_follower_ends_with_the_snapshot(log_size: int, steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(follow_along(Path(folder), log_size, steps))


def test_a_long_log_needs_one_snapshot_and_a_short_one_more(tmp_path: Path) -> None:
    topics = {name: TopicConfig() for name in ("T", "U", "V")}
    steps: list[Step] = [
        ("follow",),
        ("register", "a", 0, topics),
        ("follow",),
        ("remove", "a", 0),
        ("register", "b", 0, topics),
    ]
    assert asyncio.run(follow_along(tmp_path, 1000, steps)).resyncs == 1
    assert asyncio.run(follow_along(tmp_path, 2, steps)).resyncs > 1
