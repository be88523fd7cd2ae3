"""Registration bodies, plain and compressed, from an encoder of the tests' own."""

import json
import struct
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signpost_namesrv.wire import registration
from signpost_namesrv.wire.bodies import DataVersion, MappingInfo
from signpost_namesrv.wire.errors import BodyError
from signpost_namesrv.wire.registration import RegistrationBody, TopicConfig, decode_registration
from tests.support.remoting import compressed_body, pieces, plain_body, topic_json, version_json


def decode(body: bytes, compressed: bool = False, version: int = 479) -> RegistrationBody:
    return run(body, compressed, version)[0]


def run(body: bytes, compressed: bool = False, version: int = 479) -> tuple[RegistrationBody, int]:
    """The body and how often its decoding let others have a turn."""
    work, turns = decode_registration(body, compressed=compressed, version=version), 0
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value, turns
        turns += 1


def test_plain() -> None:
    mapping = {"bname": "a", "currIdMap": {"0": 1}, "epoch": 2, "topic": "S", "totalQueues": 3}
    body = plain_body(
        {"T": topic_json("T", 1, 2, 4, 3), "U": {}},
        version_json(5, 6, 7),
        ["f:1"],
        {"S": mapping},
    )
    assert decode(body) == RegistrationBody(
        data_version=DataVersion(5, 6, 7),
        topics=[("T", TopicConfig("T", 1, 2, 4, 3)), ("U", TopicConfig())],
        mappings={"S": MappingInfo("a", {0: 1}, False, 2, "__global__", "S", 3)},
        filter_servers=["f:1"],
    )


def test_bare_keys_in_mappings_are_read() -> None:
    body = plain_body({"{0:": topic_json("{0:")}, mappings={"S": {"currIdMap": {"0": 1, "1": 0}}})
    bare = body.replace(b'"0":1', b"0:1").replace(b'"1":0', b"1:0")
    assert bare != body
    assert decode(bare) == decode(body)


@pytest.mark.parametrize(
    ("body", "version", "filters"),
    [
        (b"", 479, None),
        (b"", 30, None),
        (b"{}", 479, []),
        (b"{}", 30, None),  # before 3.0.11 a body is the topic table alone
        (b'{"topicConfigSerializeWrapper":null,"filterServerList":null}', 479, []),
        (b'{"topicConfigSerializeWrapper":{"topicConfigTable":null}}', 479, []),
        (b'{"topicConfigSerializeWrapper":{"topicConfigTable":{}}}', 479, []),
    ],
)
def test_little_or_nothing(body: bytes, version: int, filters: list[str] | None) -> None:
    assert decode(body, version=version) == RegistrationBody(topics=(), filter_servers=filters) or (
        decode(body, version=version) == RegistrationBody(topics=[], filter_servers=filters)
    )


def test_before_filter_servers() -> None:
    wrapper = json.loads(plain_body({"T": topic_json("T")}))["topicConfigSerializeWrapper"]
    old = decode(json.dumps(wrapper).encode(), version=36)
    assert [name for name, _ in old.topics] == ["T"]
    assert old.filter_servers is None


def test_compressed() -> None:
    mapping = {"bname": "a", "currIdMap": {"0": 1}, "epoch": 2, "topic": "S", "totalQueues": 3}
    body = compressed_body(
        ["T 1 2 4 SINGLE_TAG {}", "%RETRY%é 8 8 6 SINGLE_TAG", 'A 1 1 6 X {"a":"b c"}', "B 1 1 6"],
        version_json(5, 6, 7),
        ["f:1"],
        [mapping],
    )
    expected = [
        ("T", TopicConfig("T", 1, 2, 4)),
        ("%RETRY%é", TopicConfig("%RETRY%é", 8, 8, 6)),
        ("A", TopicConfig("A", 1, 1, 6)),
        ("B", TopicConfig("B", 1, 1, 6)),
    ]
    assert decode(body, compressed=True) == RegistrationBody(
        DataVersion(5, 6, 7),
        expected,
        {"S": MappingInfo("a", {0: 1}, False, 2, "__global__", "S", 3)},
        ["f:1"],
    )
    old = compressed_body(["T 1 2 4 SINGLE_TAG"], mappings=None)
    assert decode(old, compressed=True, version=412).topics == expected[:1]
    with pytest.raises(BodyError, match="mapping count"):
        decode(old, compressed=True, version=413)


def test_a_large_compressed_body_is_read_in_turns() -> None:
    names = [f"topic-{number}" for number in range(10_000)]
    body, turns = run(compressed_body(f"{n} 4 4 6 SINGLE_TAG {{}}" for n in names), compressed=True)
    assert [name for name, _ in body.topics] == names
    assert turns >= 10


whole = compressed_body(["T 1 2 4 SINGLE_TAG {}"] * 3, filters=["f"], mappings=[{"topic": "S"}])


@given(st.integers(0, len(whole) - 12))
def test_truncated_compressed_bodies_are_refused(end: int) -> None:
    with pytest.raises(BodyError):
        decode(whole[:end] or b"\0", compressed=True)


@given(st.binary(min_size=1, max_size=200))
def test_compressed_noise_is_refused(noise: bytes) -> None:
    for body in (noise, zlib.compress(noise)):
        with pytest.raises(BodyError):
            decode(body, compressed=True)


@pytest.mark.parametrize(
    "inflated",
    [
        struct.pack(">i", -1),
        struct.pack(">i", 2**31 - 1),
        struct.pack(">i", registration.MAX_PIECE + 1) + bytes(registration.MAX_PIECE + 1),
        pieces(["T 1 2 9999999999 X"]),
        pieces(["T 1 2"]),
        pieces(["T one 2 3"]),
        pieces([""]),
        pieces([])[:-12] + struct.pack(">i", -1),
        struct.pack(">i", 2) + b"\xff\xff" + bytes(8),
        struct.pack(">i", 2) + b"[]" + bytes(8),
    ],
)
def test_hostile_compressed_contents(inflated: bytes) -> None:
    with pytest.raises(BodyError):
        decode(zlib.compress(inflated), compressed=True)


def test_a_zip_bomb_is_inflated_only_as_far_as_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration, "MAX_INFLATED", 1 << 20)
    monkeypatch.setattr(registration, "MAX_PIECE", 1 << 19)
    text = "T" * 10_000 + " 4 4 6"
    bomb = compressed_body([text] * 2_000)
    assert len(bomb) < 200_000  # of 20 MB
    with pytest.raises(BodyError, match="inflates to more than"):
        decode(bomb, compressed=True)


@pytest.mark.parametrize("field", ["readQueueNums", "writeQueueNums", "perm", "topicSysFlag"])
@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 10**30, 1.5, "4", None, [], True])
def test_numbers_that_java_would_not_read_are_refused(field: str, value: Any) -> None:
    with pytest.raises(BodyError):
        decode(plain_body({"T": topic_json("T") | {field: value}}))


@pytest.mark.parametrize(
    "table",
    [b"[]", b'"x"', b"1", b'{"T":[]}', b'{"T":null}', b'{"T":{"topicName":1}}', b"[" * 5000],
)
def test_tables_that_are_none(table: bytes) -> None:
    with pytest.raises(BodyError):
        decode(b'{"topicConfigSerializeWrapper":{"topicConfigTable":%b}}' % table)
