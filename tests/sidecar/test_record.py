"""What the sum of a broker's registrations is."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signpost_namesrv.sidecar.packing import unpack
from signpost_namesrv.sidecar.record import Record, broker_of
from signpost_namesrv.wire.bodies import QueueData
from signpost_namesrv.wire.command import Command
from signpost_namesrv.wire.errors import BodyError
from tests.conformance.bodies import Registration, Topic
from tests.sidecar.actors import table

FIELDS = {"clusterName": "c", "brokerName": "a", "brokerId": "0", "brokerAddr": "10.0.0.1:1"}


def said(body: Registration, more: Mapping[str, str] | None = None, flag: int = 0) -> Command:
    fields = {**FIELDS, **(more or {})}
    return Command(code=103, opaque=9, fields=fields, body=body.plain(), flag=flag)


def heard(*commands: Command) -> Record:
    record = Record(broker_of(commands[0]))
    for command in commands:
        record.apply(record.read(command))
    return record


def test_a_repetition_is_nothing_new() -> None:
    first = said(table("a", "T"))
    record = heard(first, first, first)
    assert record.generation == 1
    assert record.read(first) is None


def test_the_same_table_in_other_bytes_is_nothing_new() -> None:
    body = table("a", "T")
    other = Registration(list(reversed(body.topics)))
    record = heard(said(body), said(other))
    assert record.generation == 1
    assert record.read(said(other)) is None, "and the next time it is not even read"


@pytest.mark.parametrize(
    ("second", "topics"),
    [
        (table("a", "T", "U", counter=2), {"T", "U"}),
        (table("a", "U", counter=2), {"U"}),
        (table("a", "U", counter=2, full=False), {"T", "U"}),
        (table("a", counter=2), set()),
    ],
    ids=["more", "another", "increment", "fewer"],
)
def test_full_tables_replace_and_increments_add(second: Registration, topics: set[str]) -> None:
    record = heard(said(table("a", "T")), said(second))
    assert set(unpack(record.registration).topics) & {"T", "U"} == topics
    assert record.generation == 2
    assert record.table.version.counter == 2


def test_an_increment_serves_those_who_have_the_rest() -> None:
    record = heard(said(table("a", "T")), said(table("a", "U", counter=2, full=False)))
    increment = record.increment_after(1)
    assert increment is not None
    assert set(unpack(increment).topics) == {"U"}
    assert record.increment_after(0) is None
    record.apply(record.read(said(table("a", "V", counter=3, full=False))))
    assert record.increment_after(1) is None, "one step back, no further"


def test_a_changed_header_is_sent_in_full() -> None:
    record = heard(said(table("a", "T")), said(table("a", "T"), {"haServerAddr": "10.0.0.9:1"}))
    assert record.generation == 2
    assert record.increment_after(1) is None


def test_brokers_that_are_not_stock_replace_their_table() -> None:
    one, two = Registration([Topic("T"), Topic("U")]), Registration([Topic("U"), Topic("V")])
    assert set(heard(said(one), said(two)).table.topics) == {"U", "V"}


def test_a_single_topic_registration_is_added() -> None:
    record = heard(said(table("a", "T")))
    queues = [QueueData("a", 6, 8, 0, 8), QueueData("b", 6, 1, 0, 1)]
    record.apply(record.read_topic("U", queues))
    assert unpack(record.registration).topics["U"].read_queue_nums == 8
    assert record.read_topic("V", queues[1:]) is None
    record.apply(record.read(said(table("a", "T"))))
    assert "U" not in record.table.topics, "the broker's next full table counts"


def test_read_only_holds_for_all_that_follows() -> None:
    record = heard(said(table("a", "T")))
    record.make_read_only()
    record.apply(record.read(said(table("a", "T", "U", counter=5))))
    assert all(not t.perm & 2 for t in unpack(record.registration).topics.values())
    assert record.table.topics["U"].perm == 6, "what the broker said is not forgotten"
    record.apply(record.read(said(table("a", "V", counter=6, full=False))))
    increment = record.increment_after(record.generation - 1)
    assert increment is not None
    assert unpack(increment).topics["V"].perm == 4


def test_what_cannot_be_read_changes_nothing() -> None:
    record = heard(said(table("a", "T")))
    with pytest.raises(BodyError):
        record.read(Command(code=103, opaque=1, fields=FIELDS, body=b"{]"))
    assert record.generation == 1
    assert "T" in record.table.topics


@pytest.mark.parametrize(
    ("timeout", "age", "fresh"),
    [(None, 119, True), (None, 121, False), ("5000", 6, False), ("x", 119, True)],
)
def test_freshness(timeout: str | None, age: float, fresh: bool) -> None:
    more = {} if timeout is None else {"heartbeatTimeoutMillis": timeout}
    record = heard(said(table("a", "T"), more))
    record.last_beat = 1000.0
    assert record.fresh(1000.0 + age) is fresh


def test_one_way_registrations_are_still_confirmed() -> None:
    record = heard(said(table("a", "T"), flag=2))
    assert not record.registration.is_oneway
    assert not record.version_query().is_oneway
    assert record.version_query().fields == FIELDS


words = st.lists(st.sampled_from("TUVWX"), min_size=1, max_size=3)


@given(st.lists(st.tuples(st.booleans(), words), min_size=1, max_size=12))
def test_a_newcomer_learns_what_one_that_was_always_there_knows(
    story: list[tuple[bool, list[str]]],
) -> None:
    """A name server adds up what it is sent; so must the record, between full tables."""
    record = heard(said(table("a", "T")))
    knows = {"T"}
    for number, (full, topics) in enumerate(story, 2):
        record.apply(record.read(said(table("a", *topics, counter=number, full=full))))
        knows = set(topics) if full else knows | set(topics)
    assert set(unpack(record.registration).topics) - {"a"} & set("TUVWX") == knows
