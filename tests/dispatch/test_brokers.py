"""What brokers ask of a name server."""

import json

import pytest

from signpost_namesrv.dispatch.state import RoutePolicy
from signpost_namesrv.routes.model import BrokerKey, Policy
from tests.support.remoting import compressed_body, crc, plain_body, topic_json, version_json
from tests.support.world import World, registration


def key(address: str = "a:1") -> BrokerKey:
    return BrokerKey("C", address)


def test_a_master_and_its_slave() -> None:
    world = World()
    master = world.register()
    assert (master.code, master.fields, master.body) == (0, {}, b"")
    slave = world.register(broker_id=1, address="a:2")
    assert slave.fields == {"masterAddr": "a:1", "haServerAddr": "a:1ha"}
    assert set(world.state.tables.topics) == {"T", "U"}


@pytest.mark.parametrize("field", ["brokerName", "brokerAddr", "clusterName", "brokerId"])
def test_a_registration_without_a_required_field(field: str) -> None:
    world = World()
    fields, body = registration()
    del fields[field]
    answer = world.ask(103, fields, body)
    assert answer.code == 1
    assert field in str(answer.remark)
    assert world.state.tables.revision == 0


@pytest.mark.parametrize("value", ["", "x", "1.5", "9223372036854775808", "-9223372036854775809"])
def test_a_broker_id_that_is_none(value: str) -> None:
    world = World()
    fields, body = registration(brokerId=value)
    assert world.ask(103, fields, body).code == 1
    assert world.state.tables.revision == 0


def test_checksums() -> None:
    world = World()
    fields, body = registration()
    assert world.ask(103, fields, body + b" ").code == 1
    assert world.state.tables.revision == 0
    assert world.ask(103, fields | {"bodyCrc32": "0"}, body).code == 0
    assert world.ask(103, fields, body).code == 0
    del fields["bodyCrc32"]
    assert world.ask(103, fields, body).code == 0


def test_compressed_registrations() -> None:
    world = World()
    body = compressed_body(["T 1 2 6 SINGLE_TAG {}", "U 1 2 6 SINGLE_TAG"])
    fields, _ = registration(compressed="true", bodyCrc32=crc(body))
    assert world.ask(103, fields, body).code == 0
    assert set(world.state.tables.topics) == {"T", "U"}
    assert world.ask(103, fields | {"bodyCrc32": "0"}, b"noise").code == 1


def test_an_unreadable_body_changes_nothing() -> None:
    world = World()
    for body in (b"{", b"[]", b"\xff", b"[" * 5_000, plain_body({"T": {"perm": "x"}, "U": {}})):
        fields, _ = registration(bodyCrc32=crc(body))
        answer = world.ask(103, fields, body)
        assert answer.code == 1
        assert str(answer.remark).startswith("REGISTER_BROKER: ")
    assert world.state.tables.revision == 0


def test_a_first_registration_with_one_topic_is_refused() -> None:
    world = World()
    assert world.register(topics={"T": 6}).code == 1
    assert world.state.tables.revision == 0


def test_a_conflicting_broker_is_not_told() -> None:
    world = World()
    world.register(state=5)
    assert world.register(address="a:2", state=4).code == 0
    assert world.state.tables.groups["a"].addresses == {0: "a:1"}


def test_the_same_registration_again_is_a_heartbeat() -> None:
    world = World()
    world.register()
    revision = world.state.tables.revision
    world.now += 50
    assert world.register().code == 0
    assert world.state.tables.live[key()].last_update_ms == world.now
    assert world.state.tables.revision == revision
    world.register(topics={"T": 4, "U": 4}, counter=2)
    assert world.state.tables.revision > revision


@pytest.mark.parametrize("field", ["haServerAddr", "heartbeatTimeoutMillis", "__ZONE_NAME"])
def test_any_other_field_makes_it_another_registration(field: str) -> None:
    world = World()
    for value in ("1000", "2000"):
        fields, body = registration()
        world.ask(103, fields | {field: value}, body)
    live = world.state.tables.live[key()]
    shown = {
        "haServerAddr": live.ha_address,
        "heartbeatTimeoutMillis": str(live.timeout_ms),
        "__ZONE_NAME": world.state.tables.groups["a"].zone,
    }
    assert shown[field] == "2000"


def test_the_order_configuration_is_returned() -> None:
    world = World(reads=RoutePolicy(return_order_config=True))
    assert world.register().body == b""
    world.kv.table["ORDER_TOPIC_CONFIG"] = {"T": "a:4"}
    assert world.register().json() == {"table": {"T": "a:4"}}
    world.state.reads.return_order_config = False
    assert world.register().body == b""


@pytest.mark.parametrize(
    ("value", "acting"), [(None, False), ("true", True), ("TRUE", True), ("false", False)]
)
def test_acting_masters(value: str | None, acting: bool) -> None:
    world = World()
    world.register(broker_id=1, **({} if value is None else {"enableActingMaster": value}))
    assert world.state.tables.groups["a"].acting_master is acting
    assert bool(world.state.tables.topics) == (value is not None)


def test_unregister() -> None:
    world = World()
    world.register()
    fields, _ = registration()
    assert world.ask(104, fields).code == 0
    assert not world.state.tables.groups
    assert not world.state.tables.live
    assert world.ask(104, fields).code == 0
    assert world.ask(104).code == 0


def test_heartbeats() -> None:
    world = World()
    world.register()
    world.now += 10
    fields, _ = registration()
    assert world.ask(904, fields).code == 0
    assert world.state.tables.live[key()].last_update_ms == world.now
    assert world.ask(904, fields | {"brokerAddr": "unknown:1"}).code == 0
    assert world.ask(904, {"brokerAddr": "a:1"}).code == 1


@pytest.mark.parametrize(("counter", "changed"), [(1, "false"), (2, "true")])
def test_query_data_version(counter: int, changed: str) -> None:
    world = World()
    world.register(counter=1)
    world.now += 10
    fields, _ = registration()
    answer = world.ask(322, fields, json.dumps(version_json(counter)).encode())
    assert (answer.code, answer.fields) == (0, {"changed": changed})
    assert answer.json() == version_json(1)
    assert world.state.tables.live[key()].last_update_ms == world.now


def test_query_data_version_of_an_unknown_broker() -> None:
    world = World()
    fields, _ = registration()
    answer = world.ask(322, fields, json.dumps(version_json()).encode())
    assert (answer.code, answer.fields, answer.body) == (0, {"changed": "true"}, b"")
    assert world.ask(322, fields, b"noise").code == 1
    assert world.ask(322).code == 1


def test_member_group() -> None:
    world = World()
    world.register()
    world.register(broker_id=1, address="a:2")
    answer = world.ask(901, {"clusterName": "C", "brokerName": "a"})
    assert answer.code == 0
    assert answer.body == (
        b'{"brokerMemberGroup":{"brokerAddrs":{0:"a:1",1:"a:2"},"brokerName":"a","cluster":"C"}}'
    )
    empty = world.ask(901, {"clusterName": "C", "brokerName": "x"})
    assert empty.json()["brokerMemberGroup"]["brokerAddrs"] == {}
    assert world.ask(901).code == 0


def test_brokers_are_told_of_a_new_smallest_id() -> None:
    world = World(policy=Policy(notify_min_id_change=True))
    world.register(broker_id=1, address="a:2", enableActingMaster="true")
    world.register(broker_id=0, address="a:1", enableActingMaster="true")
    (joined,) = world.told
    assert (joined.targets, joined.min_id, joined.ha_address) == (["a:2"], 0, "a:1ha")
    world.ask(104, registration()[0])
    left = world.told[1]
    assert (left.targets, left.min_id, left.offline_address) == (["a:2"], 1, "a:1")


def test_binary_headers_are_answered_in_kind() -> None:
    world = World()
    fields, body = registration()
    assert world.ask(103, fields, body, binary=True).binary
    assert world.ask(103, fields, body + b"x", binary=True, opaque=-7).code == 1


def test_topics_named_by_their_config_rather_than_their_key() -> None:
    world = World()
    body = plain_body({"key": topic_json("name"), "other": topic_json("other")})
    fields, _ = registration(bodyCrc32=crc(body))
    world.ask(103, fields, body)
    assert set(world.state.tables.topics) == {"name", "other"}
