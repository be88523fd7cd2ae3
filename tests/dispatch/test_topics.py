"""What clients and administrators ask about topics and clusters."""

import json
from typing import Any

import pytest

from signpost_namesrv.dispatch.dispatcher import HANDLERS
from signpost_namesrv.dispatch.state import RoutePolicy
from signpost_namesrv.dispatch.warmup import Warmup
from signpost_namesrv.wire.codes import RequestCode
from tests.support.world import World

STANDARD = (
    b'{"brokerDatas":[{"brokerAddrs":{"0":"a:1","1":"a:2"},"brokerName":"a","cluster":"C",'
    b'"enableActingMaster":false}],"filterServerTable":{"a:1":["f:1"]},'
    b'"queueDatas":[{"brokerName":"a","perm":6,"readQueueNums":4,"topicSysFlag":0,'
    b'"writeQueueNums":4}]}'
)


@pytest.fixture
def world() -> World:
    world = World()
    world.register(filters=("f:1",))
    world.register(broker_id=1, address="a:2")
    return world


def route(world: World, **more: Any) -> Any:
    return world.ask(105, {"topic": "T"}, **more).json()


@pytest.mark.parametrize(
    ("version", "fields", "standard"),
    [
        (479, {}, True),
        (401, {}, True),
        (400, {}, False),
        (0, {}, False),
        (0, {"acceptStandardJsonOnly": "true"}, True),
        (0, {"acceptStandardJsonOnly": "false"}, False),
    ],
)
def test_a_route_in_both_dialects(
    world: World, version: int, fields: dict[str, str], standard: bool
) -> None:
    answer = world.ask(105, {"topic": "T"} | fields, version=version)
    bare = STANDARD.replace(b'"0":', b"0:").replace(b'"1":', b"1:")
    assert (answer.code, answer.fields) == (0, {})
    assert answer.body == (STANDARD if standard else bare)


def test_unknown_topics(world: World) -> None:
    answer = world.ask(105, {"topic": "%RETRY%x"})
    assert (answer.code, answer.body) == (17, b"")
    assert "%RETRY%x" in str(answer.remark)
    assert world.ask(105).code == 17
    assert world.ask(105, {"topic": ""}).code == 17


def test_order_configuration(world: World) -> None:
    world.kv.table["ORDER_TOPIC_CONFIG"] = {"T": "a:4"}
    assert "orderTopicConf" not in route(world)
    world.state.reads.order_message = True
    assert route(world)["orderTopicConf"] == "a:4"


def test_static_topics() -> None:
    world = World()
    mapping = {"bname": "a", "currIdMap": {"0": 0}, "topic": "T", "totalQueues": 1, "epoch": 3}
    world.register(mappings={"T": mapping})
    assert route(world)["topicQueueMappingByBroker"] == {
        "a": mapping | {"dirty": False, "scope": "__global__"}
    }


def test_zones(world: World) -> None:
    world.register("b", 0, "b:1", __ZONE_NAME="East")
    assert len(route(world)["brokerDatas"]) == 2
    zoned = {"topic": "T", "__ZONE_MODE": "true", "__ZONE_NAME": "east"}
    body = world.ask(105, zoned).body
    assert b'{0:"b:1"}' in body
    assert b'"a:1"' not in body
    for off in ({"__ZONE_MODE": "false"}, {"__ZONE_NAME": " "}):
        assert len(world.ask(105, zoned | off).json()["brokerDatas"]) == 2


def test_not_ready_until_warm() -> None:
    world = World(warmup=Warmup(enabled=True, started_ms=1_000_000, wait_ms=500, expected=["b"]))
    world.register()
    assert world.ask(105, {"topic": "T"}).code == 1
    assert "b" in str(world.state.not_ready())
    world.register("b", 0, "b:1")
    assert world.ask(105, {"topic": "T"}).code == 0
    assert world.state.not_ready() is None


@pytest.mark.parametrize("expected", [[], ["x"], ["D/a"]])
def test_warm_after_its_time_whoever_is_missing(expected: list[str]) -> None:
    world = World(warmup=Warmup(enabled=True, started_ms=1_000_000, wait_ms=500, expected=expected))
    world.register()
    world.now = 1_000_499
    assert world.ask(105, {"topic": "T"}).code == 1
    world.now = 1_000_500
    assert world.ask(105, {"topic": "T"}).code == 0
    world.now = 0  # a clock that is set back does not make it cold again
    assert world.ask(105, {"topic": "T"}).code == 0


def test_a_draining_server_still_answers(world: World) -> None:
    world.state.draining = True
    assert world.ask(105, {"topic": "T"}).code == 0
    assert "draining" in str(world.state.not_ready())


def test_cluster_info(world: World) -> None:
    assert world.ask(106).body == (
        b'{"brokerAddrTable":{"a":{"brokerAddrs":{0:"a:1",1:"a:2"},"brokerName":"a","cluster":"C",'
        b'"enableActingMaster":false}},"clusterAddrTable":{"C":["a"]}}'
    )


def test_topic_lists(world: World) -> None:
    assert sorted(world.ask(206).json()["topicList"]) == ["T", "U"]
    assert sorted(world.ask(224, {"cluster": "C"}).json()["topicList"]) == ["T", "U"]
    assert world.ask(224).json()["topicList"] == []
    system = world.ask(304).json()
    assert sorted(system["topicList"]) == ["C", "a"]
    assert system["brokerAddr"] == "a:1"
    assert World().ask(304).json()["topicList"] == []


@pytest.mark.parametrize("code", [206, 224, 311, 312, 313])
def test_topic_lists_can_be_switched_off(code: int) -> None:
    world = World(reads=RoutePolicy(all_topic_list=False, topic_list=False))
    assert world.ask(code, {"cluster": "C"}).code == 1


@pytest.mark.parametrize(("code", "expected"), [(311, ["1", "3"]), (312, ["2", "3"]), (313, ["2"])])
def test_unit_topics(world: World, code: int, expected: list[str]) -> None:
    for flag in range(4):
        queues = [{"brokerName": "a", "perm": 6, "topicSysFlag": flag}]
        body = json.dumps({"queueDatas": queues}).encode()
        assert world.ask(217, {"topic": str(flag)}, body).code == 0
    assert world.ask(code).json()["topicList"] == expected


def test_permissions(world: World) -> None:
    assert world.ask(205, {"brokerName": "a"}).fields == {"wipeTopicCount": "2"}
    assert route(world)["queueDatas"][0]["perm"] == 4
    assert world.ask(327, {"brokerName": "a"}).fields == {"addTopicCount": "2"}
    assert route(world)["queueDatas"][0]["perm"] == 6
    assert world.ask(205, {"brokerName": "x"}).fields == {"wipeTopicCount": "0"}
    assert world.ask(205).fields == {"wipeTopicCount": "0"}
    assert world.ask(327).fields == {"addTopicCount": "0"}


def test_delete_topic(world: World) -> None:
    assert world.ask(216, {"topic": "T", "clusterName": "other"}).code == 0
    assert "T" in world.state.tables.topics
    assert world.ask(216, {"topic": "T", "clusterName": "C"}).code == 0
    assert "T" not in world.state.tables.topics
    assert world.ask(216, {"topic": "U"}).code == 0
    assert world.ask(216).code == 0
    assert not world.state.tables.topics
    world.register()  # the broker has them still, and says so
    assert set(world.state.tables.topics) == {"T", "U"}


def test_register_topic(world: World) -> None:
    for broker, known in (("x", False), ("a", True)):
        queues = [{"brokerName": broker, "readQueueNums": 3, "writeQueueNums": 2, "perm": 6}]
        body = json.dumps({"queueDatas": queues}).encode()
        assert world.ask(217, {"topic": "V"}, body).code == 0
        assert ("V" in world.state.tables.topics) == known
    assert world.ask(217, {"topic": "W"}).code == 0
    assert world.ask(217, {"topic": "W"}, b"noise").code == 1
    assert world.ask(217, {"topic": "W"}, b'{"queueDatas":[{"perm":3000000000}]}').code == 1
    assert "W" not in world.state.tables.topics


@pytest.mark.parametrize("code", [0, -1, 1, 103_000, 905, 2**31 - 1])
def test_other_codes_are_not_supported(world: World, code: int) -> None:
    answer = world.ask(code)
    assert answer.code == 3
    assert str(code) in str(answer.remark)


def test_every_code_has_a_handler_and_survives_no_fields_at_all() -> None:
    assert set(RequestCode) - set(HANDLERS) == {RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE}
    for code in HANDLERS:
        for binary in (False, True):
            answer = World().ask(code, binary=binary)
            assert answer.code in {0, 1, 17, 22}, code
