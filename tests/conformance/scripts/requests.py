"""Each request of the protocol and its edges: bare, KV, routes, topics, versions, settings."""

from __future__ import annotations

import json

from tests.conformance.bodies import Registration, queue_datas
from tests.conformance.peer import Request
from tests.conformance.script import BINARY, NEW, OLD, ONE_WAY, How, Script, Step, ask, look
from tests.conformance.scripts.cast import A0, A1, B0, TWO

CODES = (
    100,
    101,
    102,
    103,
    104,
    105,
    106,
    205,
    206,
    216,
    217,
    219,
    224,
    304,
    311,
    312,
    313,
    318,
    319,
    322,
    327,
    901,
    904,
)


def bare() -> Script:
    """Every code, and some unknown ones, without the fields it wants; odd headers."""
    for code in (*CODES, 0, 1, 999, 32_000):
        yield Step(f"bare {code}: no extFields", Request(code))
        yield Step(f"bare {code}: empty extFields", Request(code, {}))
        yield Step(f"bare {code}: binary", Request(code, {}, serialization="ROCKETMQ"))
    for version in (0, 36, 37, 400, 401, 477, 479, 9999, -1):
        yield ask(f"version {version}", 106, b"", How(version, "JSON", "GO"))
    for flag in (2, 1, 4):
        yield ask(f"flag {flag}", 106, b"", How(flag=flag))
        yield ask(f"after flag {flag}", 106)
    heads = {
        "unknown language": b'{"code":106,"language":"KLINGON","opaque":5,"flag":0,"version":479}',
        "no code": b'{"opaque":5}',
        "unquoted keys": b"{code:106,opaque:4}",
        "number as value": b'{"code":105,"opaque":4,"extFields":{"topic":5}}',
        "unknown keys": b'{"code":106,"opaque":4,"suspended":false,"x":{"y":[1]}}',
        "null fields": b'{"code":105,"opaque":4,"remark":null,"extFields":{"topic":null}}',
        "extFields null": b'{"code":106,"opaque":4,"extFields":null}',
        "not JSON": b"hello",
        "cut short": b'{"code":106,',
    }
    for label, raw in heads.items():
        yield Step(f"header: {label}", Request(0, raw=raw), f"header {label}")
    yield Step("header: empty", Request(0, raw=b""), "header empty")
    yield Step("after an empty header", Request(106), "header empty")


def kv() -> Script:
    """The KV table, order topics included."""
    puts = [
        ("N", "k", "v"),
        ("N", "", ""),
        ("N", "k", "w"),
        ("N", "q", 'é"\\\n\u4e2d/<'),
        ("", "k", "v"),
    ]
    for namespace, key, value in puts:
        yield ask("kv", 100, namespace=namespace, key=key, value=value)
    yield ask("kv, no value", 100, namespace="N", key="none")
    yield ask("kv, no key", 100, namespace="N", value="v")
    yield ask("kv, no namespace", 100, key="k", value="v")
    for namespace in ("N", "", "Z"):
        yield ask("kv", 219, namespace=namespace)
        for key in ("k", "", "q", "none", "z"):
            yield ask("kv", 101, namespace=namespace, key=key)
    yield ask("kv, binary", 101, b"", BINARY, namespace="N", key="k")
    yield ask("kv, no key", 101, namespace="N")
    for key in ("k", "k", "", "q", "none"):
        yield ask("kv", 102, namespace="N", key=key)
    yield ask("kv, unknown namespace", 102, namespace="Z", key="k")
    yield ask("kv, emptied", 219, namespace="N")
    yield ask("kv, emptied", 101, namespace="N", key="k")
    yield ask("kv, order", 100, namespace="ORDER_TOPIC_CONFIG", key="T1", value="a:4;b:4")
    yield ask("kv, order", 219, namespace="ORDER_TOPIC_CONFIG")


def routes() -> Script:
    """One master, one slave, a second group: look-ups in both dialects, permissions, deletion."""
    yield A0.joins("routes", Registration(TWO))
    yield A1.joins("routes", Registration(TWO))
    yield B0.joins("no body", b"")
    yield from look("routes", "T1", "nope")
    for how in (NEW, OLD, BINARY, How(401), How(0, "JSON", "CPP"), How(400, "ROCKETMQ", "CPP")):
        for standard in (
            {},
            *({"acceptStandardJsonOnly": x} for x in ("true", "TRUE", "false", "zz")),
        ):
            yield ask(f"dialect {how}", 105, b"", how, topic="T1", **standard)
    yield ask("empty topic", 105, topic="")
    for how in (NEW, OLD):
        for fields in (
            {"clusterName": "C", "brokerName": "a"},
            {"clusterName": "C", "brokerName": "z"},
            {"clusterName": "X", "brokerName": "a"},
            {"brokerName": "a"},
            {"clusterName": "C"},
        ):
            yield ask("group", 901, b"", how, **fields)
    for cluster in ("C", "X"):
        yield ask("cluster", 224, cluster=cluster)
    for code in (205, 205, 327, 327, 205):
        for name in ("a", "z", ""):
            yield ask("permission", code, brokerName=name)
        yield ask("permission", 105, topic="T1")
    yield A0.joins("an unchanged version gives no permission back", Registration(TWO))
    yield ask("permission", 105, topic="T1")
    yield A0.joins("a changed one does", Registration(TWO, counter=2))
    yield ask("permission", 105, topic="T1")
    yield from _deletion()


def _deletion() -> Script:
    for fields in (
        {"topic": "T2"},
        {"topic": "T2"},
        {"topic": "T1", "clusterName": "X"},
        {"clusterName": "C"},
    ):
        yield ask("delete", 216, **fields)
    yield from look("deleted", "T1", "T2")
    yield A0.joins("a deleted topic comes back", Registration(TWO, counter=2))
    yield from look("back", "T2")
    yield ask("delete in its cluster", 216, topic="T2", clusterName="C")
    yield ask("delete, empty cluster", 216, topic="T1", clusterName="")
    yield from look("deleted again", "T1", "T2")
    yield A0.joins("back", Registration(TWO, counter=3))


def topics_by_request() -> Script:
    """217: topics registered by name."""
    for label, topic, body in (
        ("known", "R1", queue_datas("a")),
        ("other broker", "R1", queue_datas("b", perm=4)),
        ("same broker, other numbers", "R1", queue_datas("a", read=2, write=1)),
        ("one unknown", "R2", queue_datas("a", "zz")),
        ("on a broker's topic", "T1", queue_datas("b")),
        ("none", "R3", b'{"queueDatas":[]}'),
        ("no list", "R3", b"{}"),
        ("no body", "R3", b""),
        ("null", "R3", b'{"queueDatas":null}'),
        ("brokers too", "R4", b'{"brokerDatas":[{"brokerAddrs":{0:"x"}}],' + queue_datas("a")[1:]),
        ("not JSON", "R3", b"x"),
        ("empty name", "", queue_datas("a")),
    ):
        yield ask(f"217 {label}", 217, body, topic=topic)
        yield ask(f"217 {label}", 105, topic=topic)
    yield ask("half known", 217, queue_datas("b", "zz", read=1), topic="R1")
    yield ask("half known", 105, topic="R1")
    yield ask("217 healed", 217, queue_datas("b", read=3), topic="R1")
    yield from look("217", "R1")
    for topic in ("R1", "R4", ""):
        yield ask("217 undone", 216, topic=topic)


def versions() -> Script:
    """322 and 904, and what they leave."""
    stored = Registration(TWO, counter=3)
    for label, body in {
        "equal": json.dumps(stored.version).encode(),
        "other counter": json.dumps(Registration(counter=9).version).encode(),
        "other state": json.dumps(Registration(counter=3, state=1).version).encode(),
        "partial": b'{"counter":3}',
        "none": b"",
        "not JSON": b"xx",
    }.items():
        for how in (NEW, OLD, BINARY):
            yield ask(f"322 {label}", 322, body, how, **A0.fields)
        yield ask(
            f"322 {label}, unknown broker", 322, body, **(A0.fields | {"brokerAddr": "10.9.9.9:1"})
        )
    for code in (322, 904):
        for gap in A0.fields:
            fields = {key: value for key, value in A0.fields.items() if key != gap}
            yield Step(
                f"{code} without {gap}", Request(code, fields, json.dumps(stored.version).encode())
            )
        yield ask(f"{code} unknown cluster", code, b"{}", **(A0.fields | {"clusterName": "X"}))
    yield ask("904", 904, **A0.fields)
    yield ask("904 one-way", 904, b"", ONE_WAY, **A0.fields)
    yield ask("322 after heartbeats", 322, b"{}", **A0.fields)


def config(updates: str) -> Script:
    """318 and 319; `updates` says whether ours takes updates at all, as Java always does."""
    for label, body in {
        "no body": b"",
        "protected": b"kvConfigPath=/x\n",
        "protected too": b"configStorePath=/x\n",
        "the list itself": b"configBlackList=\n",
        "home": b"rocketmqHome=/x\n",
        "protected among others": b"enableTopicList=true\nkvConfigPath=/x\n",
        "harmless": b"enableTopicList=true\norderMessageEnable=true\n",
        "unknown": b"zzz=1\n",
    }.items():
        yield ask(f"318 {label}, updates {updates}", 318, body)
        yield ask(f"318 {label}, updates {updates}", 319)
    yield from look("after 318")
