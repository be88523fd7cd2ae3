"""What is found: acting masters, zones, flags, clusters."""

import pytest

from signpost_namesrv.routes import lookup
from signpost_namesrv.routes.lookup import Route
from signpost_namesrv.routes.model import Queues
from signpost_namesrv.routes.topics import register_topic, set_writable

from .builders import Server, broker, run


def found(server: Server, topic: str = "T") -> Route:
    route = lookup.route(server.tables, server.policy, topic)
    assert route is not None
    return route


def test_unknown_topics_have_no_route() -> None:
    server = Server()
    assert lookup.route(server.tables, server.policy, "T") is None


def test_a_route_has_all_brokers_of_its_topic() -> None:
    server = Server()
    server.register(broker("b", 0, "b:1", filter_servers=["f:1"]))
    server.register(broker("a", 0, "a:1"))
    server.register(broker("c", 0, "c:1", topics={"X": 6, "Y": 6}, filter_servers=["f:2"]))
    route = found(server)
    assert [q.broker for q in route.queues] == ["a", "b"]
    assert [g.name for g in route.groups] == ["a", "b"]
    assert route.filter_servers == {"b:1": ("f:1",)}
    assert route.mappings is None


@pytest.mark.parametrize(
    ("supported", "acting", "topic", "expected"),
    [
        (True, True, "T", {0: "a:2", 3: "a:3"}),
        (False, True, "T", {2: "a:2", 3: "a:3"}),
        (True, False, "T", {2: "a:2", 3: "a:3"}),
        (True, True, "rmq_sys_SYNC_BROKER_MEMBER_x", {2: "a:2", 3: "a:3"}),
    ],
)
def test_an_acting_master_is_shown_as_the_master(
    supported: bool, acting: bool, topic: str, expected: dict[int, str]
) -> None:
    server = Server(support_acting_master=supported)
    topics = {topic: 4, "other": 4}
    server.register(broker("a", 2, "a:2", topics, acting_master=acting))
    server.register(broker("a", 3, "a:3", topics, acting_master=acting))
    (group,) = found(server, topic).groups
    assert group.addresses == expected
    assert server.addresses() == {2: "a:2", 3: "a:3"}


def test_no_acting_master_while_the_group_may_be_written() -> None:
    server = Server(support_acting_master=True)
    server.register(broker("a", 1, "a:1", acting_master=True))
    run(set_writable(server.tables, "a", True, 0))
    (group,) = found(server).groups
    assert group.addresses == {1: "a:1"}


def test_zones_keep_their_own_groups_and_those_without_a_master() -> None:
    server = Server()
    server.register(broker("near", 0, "n:1", zone="East", filter_servers=["f:n"]))
    server.register(broker("far", 0, "f:1", zone="west", filter_servers=["f:f"]))
    server.register(broker("none", 0, "o:1"))
    server.register(broker("headless", 1, "h:1", zone="west", acting_master=True))
    route = lookup.in_zone(found(server), "EAST")
    assert [g.name for g in route.groups] == ["headless", "near"]
    assert [q.broker for q in route.queues] == ["headless", "near"]
    assert route.filter_servers == {"n:1": ("f:n",)}


@pytest.mark.parametrize(
    ("present", "absent", "expected"),
    [
        (lookup.UNIT_FLAG, 0, ["t1", "t3"]),
        (lookup.UNIT_SUB_FLAG, 0, ["t2", "t3"]),
        (lookup.UNIT_SUB_FLAG, lookup.UNIT_FLAG, ["t2"]),
    ],
)
def test_unit_flags(present: int, absent: int, expected: list[str]) -> None:
    server = Server()
    server.register(broker(topics={}))
    for flag in range(4):
        register_topic(server.tables, f"t{flag}", [Queues("a", 1, 1, 6, flag)], 0)
    assert lookup.topics_by_flag(server.tables, present, absent) == expected


def test_topics_of_a_cluster() -> None:
    server = Server()
    server.register(broker("a", 0, "a:1", {"T": 6, "U": 6}, cluster="C1"))
    server.register(broker("b", 0, "b:1", {"U": 6, "V": 6}, cluster="C2"))
    assert sorted(lookup.topics_of_cluster(server.tables, "C1")) == ["T", "U"]
    assert sorted(lookup.topics_of_cluster(server.tables, "C2")) == ["U", "V"]
    assert lookup.topics_of_cluster(server.tables, "C3") == []
