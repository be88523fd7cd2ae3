"""The rules of registration and removal, one after another."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.conformance.bodies import Registration, Topic, crc, queue_datas
from tests.conformance.peer import Request
from tests.conformance.script import NEW, OLD, How, Member, Script, Step, ask, look
from tests.conformance.scripts.cast import A0, A1, B0, TWO


def registrations() -> Script:
    """Checksums, compression, old brokers, filter servers, mappings, single topics, unit flags."""
    for member in (A0, A1, B0):
        yield member.joins("first", Registration(TWO))
    body = Registration(TWO, counter=4)
    for value in (crc(body.plain()), "1", "0", "zz", ""):
        yield A0.joins(f"crc {value}", body, bodyCrc32=value)
    for count, mappings in ((5, True), (6, False)):
        packed = Registration((*TWO, Topic("P1", 3, 5, 4)), counter=count, filters=("10.0.0.1:5",))
        data = packed.compressed(mappings=mappings)
        version = 479 if mappings else 401
        yield A0.joins(
            f"compressed, version {version}",
            data,
            How(version),
            compressed="true",
            bodyCrc32=crc(data),
        )
        yield from look("compressed", "P1")
    yield A0.joins("compressed, binary header", data, How(401, "ROCKETMQ"), compressed="true")
    wrapper = json.dumps(Registration((Topic("OLD1"), Topic("OLD2")), counter=7).wrapper()).encode()
    yield A0.joins("version 36", wrapper, How(36))
    yield ask("version 36", 105, topic="OLD1")
    for filters in (("10.0.0.1:5", "10.0.0.1:6"), ("10.0.0.1:6",), ()):
        yield A0.joins(f"filters {filters}", Registration(TWO, counter=8, filters=filters))
        yield ask("filters", 105, topic="T1")
    yield from _mappings()
    yield A0.joins("one topic of a known broker", Registration((Topic("NEW"),), counter=12))
    yield from look("one topic", "NEW", "T1")
    yield A0.joins(
        "other numbers", Registration((Topic("T1", 1, 2, 7), Topic("T2", perm=4)), counter=13)
    )
    yield from look("other numbers", "T1", "T2")
    flags = tuple(Topic(f"U{flag}", flag=flag) for flag in range(4))
    yield A0.joins("unit flags", Registration(flags, counter=14))
    yield from look("unit flags", "U1")
    yield from _names()
    yield from _other_writers()
    for label, odd in {
        "not JSON": b"zzz",
        "no keys": b"{}",
        "nulls": b'{"filterServerList":null,"topicConfigSerializeWrapper":null}',
        "array": b"[]",
    }.items():
        yield A0.joins(f"odd body, {label}", odd)
    yield A0.joins("odd body, not zlib", b"zzz", compressed="true")
    yield from look("odd bodies", "T1")
    yield A0.joins("sane again", Registration(TWO, counter=15))


def _mappings() -> Script:
    info = {
        "topic": "S",
        "bname": "a",
        "totalQueues": 4,
        "epoch": 1,
        "scope": "__global__",
        "dirty": False,
        "currIdMap": {"0": 0, "1": 1},
    }
    static = Registration((*TWO, Topic("S")), counter=9, mappings={"S": info})
    yield A0.joins("mapping", static)
    yield from look("mapping", "S", "T1")
    unquoted = (
        static.plain()
        .replace(b'{"0": 0, "1": 1}', b"{0:0,1:1}")
        .replace(b'"counter": 9', b'"counter": 10')
    )
    yield A0.joins("mapping, unquoted keys", unquoted)
    yield from look("mapping, unquoted keys", "S")
    packed = Registration((*TWO, Topic("S")), counter=11, mappings={"S": info | {"epoch": 2}})
    yield A0.joins("mapping, compressed", packed.compressed(), compressed="true")
    yield from look("mapping, compressed", "S")


def _names() -> Script:
    kinds = {"message.type": "FIFO", "delete.policy": "DELETE"}
    names = (
        "%RETRY%group",
        "%DLQ%group",
        "ns%topic",
        "sujet-\u00e9\u4e2d",
        'quote"d',
        "back\\slash",
        "a|b_c-",
    )
    topics = [Topic(name, number, number, attributes=kinds) for number, name in enumerate(names)]
    yield A0.joins("names", Registration(topics, counter=20))
    yield from look("names", *names)
    packed = Registration([replace(topic, read=9) for topic in topics], counter=21)
    yield A0.joins("names, compressed", packed.compressed(), compressed="true")
    yield from look("names, compressed", *names)
    for name in names:
        yield ask("names", 216, topic=name)


def _other_writers() -> Script:
    """Bodies as brokers in other languages, or older ones, write them."""
    tables = {
        "defaults": {"L1": {"topicName": "L1"}, "L2": {"topicName": "L2", "perm": 4}},
        "another key": {"key": {"topicName": "L3"}, "L4": {"topicName": "L4"}},
        "unknown fields": {
            name: Topic(name).as_json() | {"x": [1, {"y": None}]} for name in ("L1", "L5")
        },
        "nulls": {name: {"topicName": name, "attributes": None} for name in ("L6", "L7")},
    }
    for number, (label, table) in enumerate(tables.items()):
        version = {"counter": 30 + number, "timestamp": 5}
        body = {
            "topicConfigSerializeWrapper": {"topicConfigTable": table, "dataVersion": version},
            "x": 1,
        }
        yield A0.joins(f"other writers, {label}", json.dumps(body, ensure_ascii=False).encode())
        yield from look(f"other writers, {label}", "L1", "L2", "L3", "L5", "L6")
        yield ask(f"other writers, {label}", 322, b"{}", **A0.fields)


def lenient() -> Script:
    """Bodies that only a very lenient reader takes; what they leave is removed at once."""
    odd = Member("odd", 0, "10.3.0.3:10911")
    sane = Registration(TWO).plain()
    for label, body in {
        "numbers as strings": sane.replace(b'"perm": 6', b'"perm": "6"'),
        "no number": sane.replace(b'"perm": 6', b'"perm": null'),
        "counter as string": sane.replace(b'"counter": 1', b'"counter": "1"'),
        "single quotes": sane.replace(b'"', b"'"),
        "unquoted words": sane.replace(b'"perm"', b"perm"),
        "trailing comma": sane[:-1] + b",}",
    }.items():
        yield odd.joins(f"lenient, {label}", body)
        yield odd.leaves(f"lenient, {label}")
    yield odd.joins("packed, not said so", Registration(TWO).compressed(), compressed="false")
    yield odd.leaves("packed, not said so")


def removals() -> Script:
    """Holders of one id, a slave turned master, late closes, unregistration."""
    rival = Member("a", 0, "10.0.0.7:10911")
    yield A0.joins("conflict, holder", Registration(TWO, counter=16, state=5))
    yield rival.joins("conflict, older", Registration(TWO, state=4))
    yield from look("conflict, older", "T1")
    yield ask("conflict, older", 322, b"{}", **rival.fields)
    yield rival.joins("conflict, newer", Registration(TWO, state=6))
    yield from look("conflict, newer", "T1")
    yield rival.leaves("conflict")
    yield from look("conflict over", "T1")
    yield A0.joins("holder back", Registration(TWO, counter=17, state=7))
    yield A0.leaves("master gone")
    yield from look("master gone", "T1")
    promoted = Member("a", 0, A1.address)
    yield promoted.joins(
        "slave turned master", Registration((*TWO, Topic("T3")), counter=18, state=8)
    )
    yield from look("slave turned master", "T1", "T3")
    yield A1.joins("and slave again", Registration(TWO, counter=19, state=9))
    yield from look("slave again", "T1")
    yield Step("second connection", A1.register(Registration(TWO, counter=19, state=9)), "second")
    yield Step("late close of the first", None, A1.address)
    yield from look("late close", "T1")
    yield B0.hangs_up("hang up")
    yield from look("hang up", "T1")
    yield Step("the second closes", None, "second", gone=(A1.address,))
    yield from look("all gone", "T1")
    for gap in A0.fields:
        fields = {key: value for key, value in A0.fields.items() if key != gap}
        yield Step(f"104 without {gap}", Request(104, fields))
    yield ask("104 odd id", 104, **(A0.fields | {"brokerId": "w"}))


def zones() -> Script:
    """Zone mode, and what zones look like to others."""
    here = Member("z1", 0, "10.2.0.1:10911")
    there = Member("z2", 0, "10.2.0.2:10911")
    lonely = Member("z3", 1, "10.2.0.3:10911")
    for member, zone in ((here, "here"), (there, "there"), (lonely, "there")):
        yield member.joins("zones", Registration(TWO, filters=(member.address,)), __ZONE_NAME=zone)
    yield ask("zones", 217, queue_datas("z1", "z2", "z3"), topic="Z")
    for topic in ("T1", "Z"):
        for how in (NEW, OLD):
            for mode, zone in (
                ("true", "here"),
                ("true", "there"),
                ("true", "none"),
                ("true", ""),
                ("false", "here"),
                ("TRUE", "here"),
            ):
                yield ask("zones", 105, b"", how, topic=topic, __ZONE_MODE=mode, __ZONE_NAME=zone)
            yield ask("zones, no name", 105, b"", how, topic=topic, __ZONE_MODE="true")
    yield from look("zones", "T1")
    for member in (here, there, lonely):
        yield member.hangs_up("zones")


def refusals() -> Script:
    """Registrations that a sane broker never sends. Last, for Java's tables do not survive them."""
    alone = Member("lone", 0, "10.3.0.1:10911")
    yield alone.joins("a first registration with one topic", Registration((Topic("ONE"),)))
    yield ask("a first registration with one topic", 105, topic="ONE")
    yield from look("a first registration with one topic")
    odd = Member("odd", 0, "10.3.0.2:10911")
    for gap in ("brokerId", "brokerName", "brokerAddr", "clusterName"):
        yield odd.joins(f"103 without {gap}", Registration(TWO), **{gap: None})
    for value in ("", "x", " 1", "1_0"):
        yield odd.joins(f"103 brokerId {value!r}", Registration(TWO), brokerId=value)
