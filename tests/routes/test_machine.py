"""Any sequence of what can happen to the tables, against the plain model."""

import copy
from collections.abc import Callable, Generator
from typing import Any, TypeVar

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from signpost_namesrv.routes import lookup, registration, removal, topics
from signpost_namesrv.routes.model import (
    BrokerKey,
    DataVersion,
    Policy,
    Queues,
    Registration,
    StaticMapping,
)
from signpost_namesrv.routes.tables import Tables
from signpost_namesrv.wire.registration import TopicConfig

from .plain_model import Plain
from .plain_view import State, digest_of, of_tables, play, shown, shown_model

T = TypeVar("T")

NAMES = ("a", "b", "c")
TOPICS = tuple(f"t{number}" for number in range(6))
CLUSTERS = ("C1", "C1", "C2", "C1")  # by the number of an address
ACTING = {"a": None, "b": True, "c": False}
ZONES = {"a": None, "b": "z1", "c": "z2"}
CONNECTIONS = ("conn1", "conn2", "conn3", None)
LOG_SIZE = 60

configs = st.builds(
    TopicConfig,
    topic_name=st.none(),
    read_queue_nums=st.integers(0, 2),
    write_queue_nums=st.integers(1, 2),
    perm=st.sampled_from([2, 4, 6, 7]),
    topic_sys_flag=st.integers(0, 3),
)
tables_of_topics = st.dictionaries(st.sampled_from(TOPICS), configs, max_size=5)
versions = st.builds(DataVersion, st.integers(0, 2), st.just(1_700_000_000_000), st.integers(1, 3))
clusters = st.sampled_from(["C1", "C1", "C2"])


def address_of(name: str, number: int) -> str:
    """The last one is used by brokers of any name."""
    return "any:1" if number == 3 else f"{name}{number}:1"


@st.composite
def registrations(draw: st.DrawFn) -> Registration:
    name, number = draw(st.sampled_from(NAMES)), draw(st.sampled_from([0, 0, 0, 1, 1, 2, 3]))
    static = draw(st.lists(st.sampled_from(TOPICS), max_size=2, unique=True))
    return Registration(
        cluster=CLUSTERS[number],
        name=name,
        broker_id=draw(st.integers(0, 3)),
        address=address_of(name, number),
        ha_address=draw(st.sampled_from([None, "ha:1", "ha:2"])),
        zone=ZONES[name],
        timeout_ms=draw(st.sampled_from([None, 1_000, 5_000])),
        acting_master=ACTING[name],
        data_version=draw(versions),
        topics=list(draw(tables_of_topics).items()),
        mappings=[StaticMapping(t, name, draw(st.integers(1, 3))) for t in static],
        filter_servers=draw(st.sampled_from([None, [], ["f:1"], ["f:1", "f:2"]])),
        connection=draw(st.sampled_from(CONNECTIONS)),
    )


class Routes(RuleBasedStateMachine):
    """Does everything twice, and keeps what a watcher of the change log would know."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr("signpost_namesrv.routes.tables._SLICE", 2)
        self.tables = Tables(LOG_SIZE)
        self.model = Plain()
        self.policy = Policy()
        self.now = 1_000_000
        self.said: dict[BrokerKey, Registration] = {}
        self.snapshots: dict[int, State] = {0: of_tables(self.tables)}
        self.digests: dict[str, State] = {}
        self.revisions: list[int] = []
        self.tables.log.subscribe(lambda change: self.revisions.append(change.revision))

    def teardown(self) -> None:
        self.patch.undo()

    def run(self, work: Generator[None, None, T]) -> T:
        """To its end, with look-ups wherever it lets others have a turn."""
        while True:
            try:
                next(work)
            except StopIteration as end:
                result: T = end.value
                return result
            for topic in TOPICS:
                found = lookup.route(self.tables, self.policy, topic)
                assert found is None or found.groups
            lookup.topics_of_cluster(self.tables, "C1")

    @initialize(policy=st.builds(Policy, st.booleans(), st.booleans(), st.booleans()))
    def choose_policy(self, policy: Policy) -> None:
        self.policy = policy

    @rule(reg=registrations())
    def register(self, reg: Registration) -> None:
        # Equal registrations only are given equal fingerprints.
        print_ = repr(msgspec.structs.replace(reg, connection=None))
        reg = msgspec.structs.replace(reg, fingerprint=print_)
        self.apply(reg, lambda: self.run_register(reg))
        if reg.key in self.tables.live:
            self.said[reg.key] = reg

    @precondition(lambda self: self.said)
    @rule(data=st.data(), connection=st.sampled_from(CONNECTIONS))
    def say_the_same_again(self, data: st.DataObject, connection: str | None) -> None:
        key = data.draw(st.sampled_from(sorted(self.said)))
        reg = msgspec.structs.replace(self.said[key], connection=connection)

        def renew_or_register() -> registration.Registered:
            done = registration.renew(self.tables, key, reg.fingerprint, connection, self.now)
            return done or self.run_register(reg)

        self.apply(reg, renew_or_register)

    def run_register(self, reg: Registration) -> registration.Registered:
        return self.run(registration.register(self.tables, self.policy, reg, self.now))

    def apply(self, reg: Registration, act: Callable[[], registration.Registered]) -> None:
        old = set(self.model.groups.get(reg.name, {}).get("addresses", {}))
        expected = self.model.register(reg, self.now, self.policy.delete_with_registration)
        done = act()
        assert done.accepted == (expected in {"first", "accepted"})
        assert done.conflict == (expected == "conflict")
        assert done.first == (expected == "first")
        told = done.accepted and bool(old) and reg.broker_id < min(old)
        own = [change for change in done.notifications if change.broker == reg.name]
        assert bool(own) == (told and self.policy.notify_min_id_change)
        if done.accepted:
            master = self.model.groups[reg.name]["addresses"].get(0)
            live = self.model.live.get((reg.cluster, str(master)))
            known = reg.broker_id != 0 and live is not None
            assert done.master_address == (master if known else None)
            assert done.ha_address == (live["ha"] if live and known else None)

    @rule(cluster=clusters, name=st.sampled_from(NAMES), number=st.integers(0, 3))
    def heartbeat(self, cluster: str, name: str, number: int) -> None:
        address = address_of(name, number)
        known = registration.heartbeat(self.tables, BrokerKey(cluster, address), self.now)
        assert known == self.model.heartbeat((cluster, address), self.now)

    @rule(ms=st.sampled_from([1, 500, 1_000, 5_001, 120_001]))
    def time_passes(self, ms: int) -> None:
        self.now += ms

    @rule()
    def scan(self) -> None:
        silent = removal.expired(self.tables, self.now)
        assert {(b.key.cluster, b.key.address) for b in silent} == self.model.silent(self.now)
        self.remove([removal.departure_of(live) for live in silent])

    @rule(connection=st.sampled_from(CONNECTIONS[:-1]))
    def disconnect(self, connection: str) -> None:
        leaving = removal.departures_of(self.tables, connection)
        assert {(d.cluster, d.address) for d in leaving} == self.model.of_connection(connection)
        self.remove(leaving)

    @rule(chosen=st.lists(st.tuples(clusters, st.sampled_from(NAMES), st.integers(0, 3))))
    def unregister(self, chosen: list[tuple[str, str, int]]) -> None:
        self.remove([removal.Departure(c, n, 0, address_of(n, i)) for c, n, i in chosen])

    def remove(self, leaving: list[removal.Departure]) -> None:
        self.model.remove([(d.cluster, d.name, d.address) for d in leaving])
        told = self.run(removal.remove(self.tables, self.policy, leaving, self.now))
        assert self.policy.notify_min_id_change or not told
        for change in told:
            group = self.model.groups[change.broker]
            assert group["acting"]
            assert change.min_id == min(group["addresses"])
            assert change.targets == [a for _, a in sorted(group["addresses"].items())]
            assert change.offline_address not in group["addresses"].values()

    @rule(broker=st.sampled_from(NAMES), writable=st.booleans())
    def permit(self, broker: str, writable: bool) -> None:
        count = self.run(topics.set_writable(self.tables, broker, writable, self.now))
        assert count == self.model.permit(broker, writable)

    @rule(topic=st.sampled_from(TOPICS), cluster=st.sampled_from([None, "", "C1", "C2", "C3"]))
    def delete_topic(self, topic: str, cluster: str | None) -> None:
        topics.delete_topic(self.tables, topic, cluster, self.now)
        self.model.delete_topic(topic, cluster)

    @rule(
        topic=st.sampled_from(TOPICS),
        entries=st.lists(
            st.builds(Queues, st.sampled_from(NAMES), st.just(9), st.just(9), st.just(6)),
            max_size=2,
        ),
    )
    def register_topic(self, topic: str, entries: list[Queues]) -> None:
        done = topics.register_topic(self.tables, topic, entries, self.now)
        assert done == self.model.register_topic(topic, entries)

    @invariant()
    def tables_are_as_the_model_says(self) -> None:
        expected: dict[str, Any] = shown_model(self.model)
        for name, table in shown(self.tables).items():
            assert table == expected[name], name
        for entries in self.tables.topics.values():
            assert [q.broker for q in entries] == sorted(q.broker for q in entries)
        for connection in CONNECTIONS[:-1]:
            found = {(k.cluster, k.address) for k in self.tables.brokers_of(connection)}
            assert found == self.model.of_connection(connection)

    @invariant()
    def digest_is_of_the_routes_alone(self) -> None:
        now = of_tables(self.tables)
        assert str(self.tables.digest) == digest_of(self.tables)
        assert self.digests.setdefault(str(self.tables.digest), now) == now
        assert sum(1 for state in self.digests.values() if state == now) == 1

    @invariant()
    def changes_lead_from_any_snapshot_to_now(self) -> None:
        log, now = self.tables.log, of_tables(self.tables)
        assert self.revisions == list(range(1, log.revision + 1))
        assert log.revision - log.oldest_known <= LOG_SIZE
        self.snapshots = {r: s for r, s in self.snapshots.items() if r >= log.oldest_known}
        for revision, snapshot in self.snapshots.items():
            played = {name: dict(table) for name, table in snapshot.items()}
            changes = list(log.since(revision))
            assert [c.revision for c in changes] == list(range(revision + 1, log.revision + 1))
            for change in changes:
                play(played, change)
            assert played == now
        self.snapshots.setdefault(log.revision, copy.copy(now))


Routes.TestCase.settings = settings(stateful_step_count=30)
TestRoutes = Routes.TestCase
