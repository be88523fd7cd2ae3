"""One example for every rule of registration and removal."""

import pytest

from signpost_namesrv.routes import registration, topics
from signpost_namesrv.routes.model import BrokerKey, MinIdChange, Queues, StaticMapping
from signpost_namesrv.routes.removal import Departure

from .builders import TWO, Server, broker


def test_a_slave_turned_master_leaves_its_old_id() -> None:
    server = Server()
    server.register(broker(broker_id=0, address="a:1"))
    server.register(broker(broker_id=1, address="a:2"))
    server.remove(Departure("C", "a", 0, "a:1"))
    assert server.addresses() == {1: "a:2"}
    assert server.register(broker(broker_id=0, address="a:2", counter=2)).first
    assert server.addresses() == {0: "a:2"}


@pytest.mark.parametrize(("state", "accepted"), [(4, False), (5, True), (6, True)])
def test_of_two_holders_of_an_id_the_newer_state_wins(state: int, accepted: bool) -> None:
    server = Server()
    server.register(broker(address="a:1", state=5))
    done = server.register(broker(address="a:2", state=state))
    assert (done.accepted, done.conflict) == (accepted, not accepted)
    assert server.addresses() == {0: "a:2" if accepted else "a:1"}
    assert (BrokerKey("C", "a:2") in server.tables.live) == accepted


def test_a_dead_holder_does_not_conflict() -> None:
    server = Server()
    server.register(broker(address="a:1", state=5))
    server.tables.drop_live(BrokerKey("C", "a:1"))
    assert server.register(broker(address="a:2", state=1)).accepted


def test_a_refused_address_keeps_no_other_id() -> None:
    server = Server()
    server.register(broker(broker_id=0, address="a:1", state=5))
    server.register(broker(broker_id=1, address="a:2", state=5))
    assert server.register(broker(broker_id=0, address="a:2", state=4)).conflict
    assert server.addresses() == {0: "a:1"}
    server.now = 10**9
    assert server.scan() == ["a:1"]
    assert not server.tables.groups
    assert not server.tables.topics


def test_single_topics_are_for_known_brokers_only() -> None:
    server = Server()
    assert not server.register(broker(topics={"T": 6})).accepted
    assert not server.tables.groups
    assert not server.tables.clusters
    assert not server.tables.live
    server.register(broker(topics={}))
    assert server.register(broker(topics={"T": 6}, counter=2)).accepted
    assert server.perms() == {"T": 6}


def test_topics_are_read_when_the_version_changed() -> None:
    server = Server()
    server.register(broker(topics={"T": 6, "U": 6}))
    server.register(broker(topics={"T": 4, "V": 6}))
    assert server.perms() == {"T": 6, "U": 6, "V": 6}  # V had no entry yet
    server.register(broker(topics={"T": 4, "V": 4}, counter=2))
    assert server.perms() == {"T": 4, "U": 6, "V": 4}


def test_topics_no_longer_listed_go_when_so_configured() -> None:
    server = Server(delete_with_registration=True)
    server.register(broker(topics=TWO))
    server.register(broker(name="b", address="b:1", topics=TWO))
    server.register(broker(topics={"U": 6, "V": 6}, counter=2))
    assert server.perms("a") == {"U": 6, "V": 6}
    assert server.perms("b") == TWO


def test_with_static_topics_nothing_is_deleted() -> None:
    server = Server(delete_with_registration=True)
    server.register(broker(topics=TWO))
    server.register(broker(topics={}, counter=2, mappings=[StaticMapping("T", "a", 1)]))
    assert server.perms() == TWO


@pytest.mark.parametrize(
    ("acting", "expected"), [(True, {"T": 4, "U": 4}), (False, TWO), (None, {})]
)
def test_the_smallest_slave_speaks_when_it_knows_of_acting_masters(
    acting: bool | None, expected: dict[str, int]
) -> None:
    server = Server()
    server.register(broker(broker_id=2, address="a:2", acting_master=acting))
    server.register(broker(broker_id=3, address="a:3", acting_master=acting, topics={"X": 6}))
    assert server.perms() == expected


def test_an_acting_master_loses_the_write_bit() -> None:
    server = Server(support_acting_master=True)
    server.register(broker(broker_id=0, address="a:1", acting_master=True, topics={"T": 7, "U": 6}))
    server.register(broker(broker_id=1, address="a:2", acting_master=True))
    assert server.perms() == {"T": 7, "U": 6}
    server.remove(Departure("C", "a", 0, "a:1"))
    assert server.perms() == {"T": 5, "U": 4}
    server.register(broker(broker_id=0, address="a:1", acting_master=True, counter=2))
    assert server.perms() == {"T": 6, "U": 6}


def test_without_acting_masters_the_write_bit_stays() -> None:
    server = Server()
    server.register(broker(broker_id=0, address="a:1", acting_master=False))
    server.register(broker(broker_id=1, address="a:2", acting_master=False))
    server.remove(Departure("C", "a", 0, "a:1"))
    assert server.perms() == TWO


def test_a_prime_slave_is_read_again_after_its_master_left() -> None:
    """It may know topics that the master never told; it repeats itself word for word."""
    server = Server()
    server.register(broker(broker_id=0, address="a:1", acting_master=True))
    more = TWO | {"V": 6}
    slave = broker(broker_id=1, address="a:2", topics=more, acting_master=True, fingerprint="f")
    server.register(slave)
    assert registration.renew(server.tables, slave.key, "f", None, 1)
    server.remove(Departure("C", "a", 0, "a:1"))
    assert registration.renew(server.tables, slave.key, "f", None, 1) is None
    server.register(slave)
    assert server.perms() == {"T": 4, "U": 4, "V": 4}


def test_liveness() -> None:
    server = Server()
    server.register(broker(address="a:1"))
    server.register(broker(name="b", address="b:1", timeout_ms=1_000))
    server.now = 1_000
    assert server.scan() == []
    server.now = 1_001
    assert server.scan() == ["b:1"]
    server.now = 100_000
    assert registration.heartbeat(server.tables, BrokerKey("C", "a:1"), server.now)
    assert not registration.heartbeat(server.tables, BrokerKey("C", "b:1"), server.now)
    server.now = 220_000
    assert server.scan() == []
    server.now += 1
    assert server.scan() == ["a:1"]


def test_filter_servers_are_replaced_kept_or_removed() -> None:
    server, key = Server(), BrokerKey("C", "a:1")
    server.register(broker(filter_servers=["f:1"]))
    server.register(broker(filter_servers=None))
    assert server.tables.filters == {key: ("f:1",)}
    server.register(broker(filter_servers=["f:2"]))
    assert server.tables.filters == {key: ("f:2",)}
    server.register(broker(filter_servers=[]))
    assert server.tables.filters == {}


def test_a_slave_is_told_its_master() -> None:
    server = Server()
    server.register(broker(broker_id=0, address="a:1", ha_address="ha:1"))
    done = server.register(broker(broker_id=1, address="a:2"))
    assert (done.master_address, done.ha_address) == ("a:1", "ha:1")
    done = server.register(broker(broker_id=0, address="a:1", ha_address="ha:1"))
    assert (done.master_address, done.ha_address) == (None, None)


def test_a_late_close_of_an_old_connection_removes_nobody() -> None:
    server = Server()
    server.register(broker(connection="old"))
    server.register(broker(connection="new"))
    server.close("old")
    assert server.addresses() == {0: "a:1"}
    server.close("new")
    assert not server.tables.groups


def test_a_renewal_moves_the_broker_to_its_new_connection() -> None:
    server = Server()
    server.register(broker(connection="old", fingerprint="f"))
    key = BrokerKey("C", "a:1")
    assert registration.renew(server.tables, key, "f", "new", 7)
    assert server.tables.live[key].last_update_ms == 7
    server.close("old")
    assert server.addresses() == {0: "a:1"}
    assert registration.renew(server.tables, key, "g", "new", 7) is None


def test_a_static_topic_that_is_put_back_has_its_mapping() -> None:
    server = Server()
    mapping = StaticMapping("T", "a", 3, queue_ids={0: 0})
    server.register(broker(mappings=[mapping]))
    topics.delete_topic(server.tables, "T", None, 0)
    assert server.tables.mappings == {}
    server.register(broker(mappings=[mapping]))
    assert server.tables.mappings == {"T": {"a": mapping}}
    server.remove(Departure("C", "a", 0, "a:1"))
    assert server.tables.mappings == {}


def test_a_topic_deleted_here_is_put_back_by_a_repeated_registration() -> None:
    server = Server()
    server.register(broker(fingerprint="f"))
    topics.delete_topic(server.tables, "T", "C", 0)
    assert server.perms() == {"U": 6}
    assert registration.renew(server.tables, BrokerKey("C", "a:1"), "f", None, 0) is None
    server.register(broker(fingerprint="f"))
    assert server.perms() == TWO


def test_topics_are_registered_on_known_brokers_only() -> None:
    server = Server()
    server.register(broker())
    known, unknown = Queues("a", 1, 1, 6), Queues("x", 1, 1, 6)
    assert not topics.register_topic(server.tables, "V", [known, unknown], 0)
    assert "V" not in server.tables.topics
    assert topics.register_topic(server.tables, "V", [known], 0)
    assert server.tables.topics["V"] == (known,)


def test_many_brokers_leave_in_one_pass() -> None:
    server = Server()
    for number in range(5):
        server.register(broker(name=f"b{number}", address=f"b{number}:1"))
    before = server.tables.revision
    server.remove(*[Departure("C", f"b{n}", 0, f"b{n}:1") for n in range(5)])
    assert not server.tables.topics
    assert not server.tables.groups
    assert not server.tables.clusters
    # 5 groups, 5 memberships, 2 topics on each of 5
    assert server.tables.revision - before == 20


def test_who_is_told_of_a_new_smallest_id() -> None:
    server = Server(notify_min_id_change=True)
    slave = broker(broker_id=2, address="a:2", acting_master=True)
    assert not server.register(slave).notifications  # nobody was there before
    joined = server.register(
        broker(broker_id=1, address="a:1", acting_master=True, ha_address="ha")
    ).notifications
    assert joined == [MinIdChange(["a:2"], "a", 1, "a:1", None, "ha")]
    assert not server.register(slave).notifications
    left = server.remove(Departure("C", "a", 1, "a:1"))
    assert left == [MinIdChange(["a:2"], "a", 2, "a:2", "a:1", None)]
    assert server.remove(Departure("C", "a", 2, "a:2")) == []


def test_nobody_is_told_when_it_is_off_or_there_are_no_acting_masters() -> None:
    for server, acting in ((Server(), True), (Server(notify_min_id_change=True), False)):
        server.register(broker(broker_id=0, address="a:0", acting_master=acting))
        server.register(broker(broker_id=1, address="a:1", acting_master=acting))
        assert server.remove(Departure("C", "a", 0, "a:0")) == []
