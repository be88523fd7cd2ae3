"""The digest says which routes there are, not how they were learnt; the log is bounded."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from signpost_namesrv.routes import digest
from signpost_namesrv.routes.changes import ChangeLog, MemberChanged
from signpost_namesrv.routes.model import BrokerKey, Group, Queues, StaticMapping

from .builders import Server, broker
from .plain_view import of_tables

brokers = [
    broker("a", 0, "a:0", {"T": 6, "U": 6}, filter_servers=["f:1"]),
    broker("a", 1, "a:1", {"T": 6, "U": 6}),
    broker("b", 0, "b:0", {"T": 4, "V": 6}, cluster="D", zone="z"),
    broker("c", 0, "c:0", {}, mappings=[StaticMapping("S", "c", 2, queue_ids={0: 1, 1: 0})]),
]


@given(st.permutations(brokers), st.permutations(brokers))
def test_the_order_of_learning_does_not_show(one: list[Any], other: list[Any]) -> None:
    first, second = Server(), Server()
    for reg in one:
        first.register(reg)
    for reg in [*other, *one]:
        second.register(reg)
    assert of_tables(first.tables) == of_tables(second.tables)
    assert str(first.tables.digest) == str(second.tables.digest)


@given(st.lists(st.sampled_from(brokers)), st.lists(st.sampled_from(brokers)))
def test_equal_exactly_when_the_routes_are(one: list[Any], other: list[Any]) -> None:
    first, second = Server(), Server()
    for reg in one:
        first.register(reg)
    for reg in other:
        second.register(reg)
    same = of_tables(first.tables) == of_tables(second.tables)
    assert (str(first.tables.digest) == str(second.tables.digest)) == same


def test_empty_tables_have_the_digest_of_nothing() -> None:
    server = Server()
    for reg in brokers:
        server.register(reg)
    assert str(server.tables.digest) != "0" * 32
    server.now = 10**9
    server.scan()
    assert str(server.tables.digest) == "0" * 32


names = st.text(st.sampled_from("\0ab 1,=z\"'[]"), max_size=4)
numbers = st.integers(0, 2)
facts = st.one_of(
    st.tuples(st.just("q"), names, st.builds(Queues, names, numbers, numbers, numbers, numbers)),
    st.tuples(
        st.just("g"),
        st.builds(
            Group,
            names,
            names,
            st.dictionaries(numbers, names, max_size=2),
            st.booleans(),
            st.none() | names,
        ),
    ),
    st.tuples(st.just("c"), names, names),
    st.tuples(
        st.just("m"),
        st.builds(
            StaticMapping,
            names,
            names,
            numbers,
            numbers,
            st.none() | names | st.just("None"),
            st.booleans(),
            st.dictionaries(numbers, numbers, max_size=2),
        ),
    ),
    st.tuples(
        st.just("f"),
        st.builds(BrokerKey, names, names),
        st.lists(names, min_size=1, max_size=2).map(tuple),
    ),
)
HASHES: dict[str, Any] = {
    "q": digest.of_queues,
    "g": digest.of_group,
    "c": digest.of_member,
    "m": digest.of_mapping,
    "f": digest.of_filters,
}


@given(st.lists(facts, min_size=2, max_size=40))
def test_different_facts_have_different_hashes(found: list[Any]) -> None:
    by_hash: dict[int, Any] = {}
    for kind, *parts in found:
        fact = (kind, *parts)
        assert by_hash.setdefault(HASHES[kind](*parts), fact) == fact


def test_the_log_holds_the_newest_changes_only() -> None:
    log = ChangeLog(3)
    heard: list[int] = []
    log.subscribe(lambda change: heard.append(change.revision))
    assert (log.revision, log.oldest_known, list(log.since(0))) == (0, 0, [])
    for revision in range(1, 6):
        log.append(MemberChanged(revision, 0, "C", "a", True))
    assert (log.revision, log.oldest_known) == (5, 2)
    assert [c.revision for c in log.since(2)] == [3, 4, 5]
    assert [c.revision for c in log.since(4)] == [5]
    assert list(log.since(5)) == []
    assert heard == [1, 2, 3, 4, 5]
