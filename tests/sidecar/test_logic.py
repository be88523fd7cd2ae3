"""The small pure parts: pauses, what a server has been told, rosters, pulses, notices, fates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signpost_namesrv.sidecar.backoff import Backoff
from signpost_namesrv.sidecar.discovery.addresses import AddressError, parse_list, split
from signpost_namesrv.sidecar.discovery.roster import Roster
from signpost_namesrv.sidecar.endpoint import Endpoint, Need
from signpost_namesrv.sidecar.presence import Fate, await_fate
from signpost_namesrv.sidecar.pulse import Act, Pulse
from tests.sidecar.actors import table
from tests.sidecar.test_record import heard, said


def test_pauses_double_up_to_the_longest() -> None:
    backoff = Backoff(0.1, 0.5, lambda: 0.0)
    assert [backoff.next() for _ in range(5)] == pytest.approx([0.1, 0.2, 0.4, 0.5, 0.5])
    backoff.reset()
    assert backoff.next() == pytest.approx(0.1)


@given(st.floats(0, 1), st.integers(0, 5000))
def test_pauses_are_shortened_by_half_at_most(luck: float, tries: int) -> None:
    backoff = Backoff(0.1, 0.8, lambda: luck, tries)
    full = min(0.1 * 2.0 ** min(tries, 30), 0.8)
    assert full / 2 <= backoff.next() <= full


def endpoint() -> Endpoint:
    return Endpoint("n1:9876", Backoff(0.1, 0.8, lambda: 0.0))


def test_what_a_name_server_needs() -> None:
    record, server = heard(said(table("a", "T"))), endpoint()
    assert server.need(record, 5) is Need.FULL
    server.connected(0)
    server.accepted(record.broker, record.generation, 1, full=True)
    assert server.need(record, 5) is Need.BEAT
    record.apply(record.read(said(table("a", "U", counter=2, full=False))))
    assert server.need(record, 5) is Need.INCREMENT
    record.apply(record.read(said(table("a", "T", "U", "V", counter=3))))
    assert server.need(record, 5) is Need.FULL


def test_a_server_is_told_in_full_now_and_then() -> None:
    record, server = heard(said(table("a", "T"))), endpoint()
    server.connected(0)
    server.accepted(record.broker, 1, 0, full=True)
    server.accepted(record.broker, 1, 590, full=False)
    assert server.need(record, 599) is Need.BEAT
    assert server.need(record, 600) is Need.FULL, "beats in between do not put it off"
    server.accepted(record.broker, 1, 600, full=True)
    assert server.need(record, 1199) is Need.BEAT


def test_a_new_connection_forgets_everything() -> None:
    record, server = heard(said(table("a", "T"))), endpoint()
    server.connected(0)
    server.accepted(record.broker, 1, 1, full=True)
    server.failed("closed", 2)
    assert not server.up
    server.connected(3)
    assert server.need(record, 5) is Need.FULL


def test_only_a_registration_earns_a_quick_retry() -> None:
    """A server that takes connections and drops them is not knocked at without end."""
    record, server = heard(said(table("a", "T"))), endpoint()
    pauses = []
    for _ in range(4):
        server.connected(0)
        pauses.append(server.failed("closed", 0))
    assert pauses == pytest.approx([0.1, 0.2, 0.4, 0.8])
    server.connected(0)
    server.accepted(record.broker, 1, 0, full=True)
    assert server.failed("closed", 0) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:1;b:2", ("a:1", "b:2")),
        (" a:1 ,\n a:1 ", ("a:1",)),
        ("[::1]:9876", ("[::1]:9876",)),
        ("", ()),
    ],
)
def test_lists_of_addresses(text: str, expected: tuple[str, ...]) -> None:
    assert parse_list(text) == expected


@pytest.mark.parametrize("text", ["a", "a:", ":1", "a:0", "a:65536", "a b:1x", "-a:1", "[::g]:1"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(AddressError, match="is not host:port"):
        parse_list(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("h", ("h", 9)), ("h:1", ("h", 1)), ("[::1]", ("::1", 9)), ("[::1]:2", ("::1", 2))],
)
def test_a_default_port(text: str, expected: tuple[str, int]) -> None:
    assert split(text, 9) == expected


def test_an_empty_answer_or_a_failure_keeps_the_last_list() -> None:
    roster = Roster(["dns"], 60)
    roster.listed("dns", ["a:1", "b:1"], 0)
    roster.listed("dns", [], 1)
    assert roster.failed("dns", "timeout")
    assert not roster.failed("dns", "timeout"), "the same trouble is no news"
    assert roster.wanted(lambda a: False, 2) == ["a:1", "b:1"]
    assert roster.listings["dns"].failures == 3


def test_an_unlisted_server_is_kept_while_it_works() -> None:
    roster, up = Roster(["dns"], 60), {"a:1", "b:1"}
    roster.listed("dns", ["a:1", "b:1"], 0)
    roster.listed("dns", ["a:1"], 10)
    assert roster.wanted(up.__contains__, 69) == ["a:1", "b:1"]
    assert roster.wanted(up.__contains__, 70) == ["a:1"]


def test_an_unlisted_server_goes_when_its_link_breaks() -> None:
    roster = Roster(["dns"], 60)
    roster.listed("dns", ["a:1", "b:1"], 0)
    roster.listed("dns", ["a:1"], 10)
    assert roster.wanted(lambda a: a != "b:1", 11) == ["a:1"]
    assert roster.wanted(lambda a: True, 12) == ["a:1"], "and does not come back by itself"


def test_several_sources_make_one_list() -> None:
    roster = Roster(["fixed", "dns"], 60)
    roster.listed("dns", ["b:1", "c:1"], 0)
    roster.listed("fixed", ["a:1", "b:1"], 0)
    assert roster.wanted(lambda a: False, 1) == ["a:1", "b:1", "c:1"]


lists = st.lists(st.sampled_from(["a:1", "b:1", "c:1"]), max_size=3)


@given(st.lists(st.tuples(st.sampled_from(["x", "y"]), lists), max_size=20))
def test_a_list_that_worked_is_never_emptied(story: list[tuple[str, list[str]]]) -> None:
    roster, worked = Roster(["x", "y"], 60), False
    for now, (source, addresses) in enumerate(story):
        roster.listed(source, addresses, now)
        worked = worked or bool(addresses)
        wanted = roster.wanted(lambda a: False, now)
        assert bool(wanted) is worked
        assert len(wanted) == len(set(wanted))


def test_a_pulse() -> None:
    pulse = Pulse(30, failures_allowed=1)
    story = [
        (False, 0, Act.NOTHING),
        (True, 2, Act.BEAT),
        (True, 4, Act.NOTHING),
        (True, 32, Act.BEAT),
        (False, 34, Act.NOTHING),
        (True, 36, Act.NOTHING),
        (False, 60, Act.NOTHING),
        (False, 62, Act.LEAVE),
        (False, 64, Act.NOTHING),
        (True, 66, Act.BEAT),
    ]
    assert [pulse.looked(well, now) for well, now, _ in story] == [act for _, _, act in story]
    pulse.changed()
    assert pulse.looked(True, 67) is Act.BEAT


@given(st.lists(st.booleans(), max_size=60))
def test_no_beat_while_unwell_and_never_silent_while_well(looks: list[bool]) -> None:
    pulse, last = Pulse(10), None
    for number, well in enumerate(looks):
        now = number * 2.0
        act = pulse.looked(well, now)
        if act is Act.BEAT:
            assert well
            last = now
        if well and pulse.registered:
            assert last is not None
            assert now - last < 10 + 2 * looks.count(False) + 2


@pytest.mark.parametrize(
    ("there", "back_after", "fresh_for", "fate", "looks"),
    [
        ([False], None, 99, Fate.GONE, 1),
        ([True, True, False], None, 99, Fate.GONE, 3),
        ([True, True, True], 2, 99, Fate.BACK, 2),
        ([True] * 9, None, 3, Fate.SILENT, 4),
    ],
    ids=["died", "died later", "came back", "hangs"],
)
async def test_the_fate_of_a_broker_that_hung_up(
    there: list[bool], back_after: int | None, fresh_for: int, fate: Fate, looks: int
) -> None:
    seen, slept, pauses = 0, 0, []

    async def is_there() -> bool:
        nonlocal seen
        seen += 1
        return there[seen - 1]

    async def sleep(seconds: float) -> None:
        nonlocal slept
        slept += 1
        pauses.append(seconds)

    def is_back() -> bool:
        return back_after is not None and slept >= back_after

    assert await await_fate(is_there, is_back, lambda: slept < fresh_for, sleep) is fate
    assert seen == looks
    assert pauses == [0.05, 0.1, 0.2, 0.4, 0.8, 1.0][: len(pauses)]
