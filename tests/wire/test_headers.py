"""Headers as tables of bytes: what is read, what is written, what is refused."""

import contextlib
import struct

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signpost_namesrv.wire.command import Command, decode_frame, encode_frame
from signpost_namesrv.wire.errors import FrameError
from tests.support.remoting import binary_header, framed, parse


def decode(header: bytes, body: bytes = b"", serialization: int = 0) -> Command:
    return decode_frame(framed(header, body, serialization)[4:])


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (b"{}", Command(code=0, opaque=0, version=0)),
        (b'{"code":105}', Command(code=105, opaque=0, version=0)),
        (
            (
                b'{"code":105,"extFields":{"topic":"T"},"flag":0,"language":"JAVA","opaque":7,'
                b'"serializeTypeCurrentRPC":"JSON","version":479}'
            ),
            Command(code=105, opaque=7, fields={"topic": "T"}),
        ),
        (
            (
                b' {"version" : 1, "suspended":false, "opaque":-1, "flag":2, "language":"GO",\n'
                b'"remark":null, "code":904, "extFields":null, "unknown":{"a":[1,{}]}} '
            ),
            Command(code=904, opaque=-1, flag=2, version=1, language="GO"),
        ),
        (
            b'{"code":1,"extFields":{"a":1,"b":true,"c":null,"d":1.5,"e":"\\u00e9\\ud83d\\ude00"}}',
            Command(
                code=1,
                opaque=0,
                version=0,
                fields={"a": "1", "b": "true", "d": "1.5", "e": "é😀"},
            ),
        ),
        (
            b'{"code":-1,"opaque":2147483647,"flag":-2147483648,"remark":"r"}',
            Command(code=-1, opaque=2**31 - 1, flag=-(2**31), version=0, remark="r"),
        ),
    ],
)
def test_json_headers_that_peers_write(header: bytes, expected: Command) -> None:
    assert decode(header, b"body") == msgspec.structs.replace(expected, body=b"body")


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"null",
        b"[]",
        b'{"code":105',
        b'{"code":105}}',
        b'{"code":"105"}',
        b'{"code":105.5}',
        b'{"code":true}',
        b'{"code":2147483648}',
        b'{"code":1,"opaque":2147483648}',
        b'{"code":1,"opaque":-2147483649}',
        b'{"code":1,"flag":99999999999999999999}',
        b'{"code":1,"opaque":007}',
        b'{"code":1,"extFields":[]}',
        b'{"code":1,"extFields":{"a":{}}}',
        b'{"code":1,"extFields":{"a":1e999}}',
        b'{"code":1,"remark":"\xff"}',
        b'{"code":1,"remark":"\\ud800"}',
        b'{"code":1,"remark":"\\ud800 and more behind it"}',
        b'{"code":1,"remark":"\n"}',
        b'{"code":1,"deep":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
        b'{"code":1,"deep":' + b'{"a":' * 10_000,
    ],
)
def test_hostile_json_headers_are_frame_errors(header: bytes) -> None:
    with pytest.raises(FrameError):
        decode(header)


@pytest.mark.parametrize("kind", [2, 3, 127, 128, 255])
def test_other_serializations_are_frame_errors(kind: int) -> None:
    with pytest.raises(FrameError, match=f"serialization {kind}"):
        decode(b'{"code":1}', serialization=kind)


@pytest.mark.parametrize("frame", [b"", b"\0", b"\0\0\0", b"\0\0\0\x01", b"\x01\0\0\x05abcd"])
def test_frames_without_room_for_their_header(frame: bytes) -> None:
    with pytest.raises(FrameError):
        decode_frame(frame)


FIXED = struct.pack(">hbhii", 105, 9, 401, -5, 2)


@pytest.mark.parametrize(
    ("header", "fields", "remark"),
    [
        (FIXED + bytes(8), None, None),
        (FIXED + b"\0\0\0\2hi" + bytes(4), None, "hi"),
        (FIXED + bytes(4) + b"\0\0\0\x0c\0\5topic\0\0\0\1T", {"topic": "T"}, None),
        (FIXED + bytes(4) + b"\0\0\0\6" + bytes(6), {"": ""}, None),
        (FIXED + bytes(4) + b"\0\0\0\x08\0\1a\0\0\0\1b", {"a": "b"}, None),
    ],
)
def test_binary_headers(header: bytes, fields: dict[str, str] | None, remark: str | None) -> None:
    assert decode(header, b"b", 1) == Command(
        code=105,
        opaque=-5,
        flag=2,
        language="GO",
        version=401,
        remark=remark,
        fields=fields,
        binary=True,
        body=b"b",
    )


@pytest.mark.parametrize("number", [-128, -1, 14, 127])
def test_unknown_languages_are_others(number: int) -> None:
    header = struct.pack(">hbhii", 1, number, 0, 0, 0) + bytes(8)
    assert decode(header, serialization=1).language == "OTHER"


@pytest.mark.parametrize(
    "header",
    [
        b"",
        FIXED[:-1],
        FIXED,
        FIXED + bytes(7),
        FIXED + b"\xff\xff\xff\xff" + bytes(4),  # a length below zero
        FIXED + b"\x7f\xff\xff\xff" + bytes(4),
        FIXED + b"\0\0\0\1" + bytes(3),
        FIXED + bytes(4) + b"\0\0\0\1\0",
        FIXED + bytes(4) + b"\0\0\0\7\0\5topic",
        FIXED + bytes(4) + b"\0\0\0\6\xff\xff" + bytes(4),
        FIXED + bytes(4) + b"\0\0\0\x0c\0\5topic\0\0\0\2T",  # a value beyond its map
        FIXED + bytes(4) + b"\0\0\0\x0c\0\5topic\x80\0\0\1T",
        FIXED + b"\0\0\0\1\xff" + bytes(4),  # no UTF-8
        FIXED + bytes(4) + b"\0\0\0\7\0\1\xff" + bytes(4),
    ],
)
def test_hostile_binary_headers_are_frame_errors(header: bytes) -> None:
    with pytest.raises(FrameError):
        decode(header, serialization=1)


@pytest.mark.parametrize(
    ("command", "header"),
    [
        (
            Command(code=0, opaque=7, flag=1),
            (
                b'{"code":0,"flag":1,"language":"JAVA","opaque":7,'
                b'"serializeTypeCurrentRPC":"JSON","version":479}'
            ),
        ),
        (
            Command(code=17, opaque=-1, flag=1, remark='no "T"\n', fields={"b": "é", "a": ""}),
            '{"code":17,"extFields":{"a":"","b":"é"},"flag":1,"language":"JAVA","opaque":-1,'
            '"remark":"no \\"T\\"\\n","serializeTypeCurrentRPC":"JSON","version":479}'.encode(),
        ),
        (
            Command(code=0, opaque=0, flag=1, fields={}),
            (
                b'{"code":0,"extFields":{},"flag":1,"language":"JAVA","opaque":0,'
                b'"serializeTypeCurrentRPC":"JSON","version":479}'
            ),
        ),
    ],
)
def test_json_headers_that_we_write(command: Command, header: bytes) -> None:
    body = b"some body"
    assert encode_frame(msgspec.structs.replace(command, body=body)) == framed(header, body)


def test_binary_headers_that_we_write() -> None:
    command = Command(code=0, opaque=-2, flag=1, fields={"changed": "true"}, binary=True, body=b"x")
    header = struct.pack(">hbhii", 0, 0, 479, -2, 1) + bytes(4)
    header += b"\0\0\0\x11\0\7changed\0\0\0\4true"
    assert encode_frame(command) == framed(header, b"x", 1)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
int32 = st.integers(min_value=-(2**31), max_value=2**31 - 1)
int16 = st.integers(min_value=-(2**15), max_value=2**15 - 1)
commands = st.builds(
    Command,
    code=int16,
    opaque=int32,
    flag=int32,
    language=st.sampled_from(["JAVA", "GO", "NODE_JS"]),
    version=int16,
    remark=st.none() | texts.filter(bool),
    fields=st.none() | st.dictionaries(texts, texts, min_size=1, max_size=5),
    binary=st.booleans(),
    body=st.binary(max_size=50),
)


@given(commands)
def test_what_is_written_is_read_again(command: Command) -> None:
    frame = encode_frame(command)
    assert decode_frame(frame[4:]) == command
    assert decode_frame(memoryview(frame)[4:]) == command
    second = parse(frame)
    assert (second.code, second.opaque, second.flag) == (command.code, command.opaque, command.flag)
    assert (second.remark, second.fields) == (command.remark, dict(command.fields or {}))
    assert (second.body, second.binary) == (command.body, command.binary)


@given(commands, st.data())
def test_damaged_frames_are_read_or_refused_but_nothing_else(
    command: Command, data: st.DataObject
) -> None:
    frame = bytearray(encode_frame(command)[4:])
    for place in data.draw(st.lists(st.integers(0, 8 * len(frame) - 1), min_size=1, max_size=6)):
        frame[place // 8] ^= 1 << place % 8
    del frame[data.draw(st.integers(0, len(frame))) :]
    with contextlib.suppress(FrameError):
        decode_frame(bytes(frame))


def test_fields_of_both_encodings_mean_the_same() -> None:
    fields = {"topic": "%RETRY%g", "acceptStandardJsonOnly": "true"}
    packed = decode(binary_header(105, fields), serialization=1)
    assert packed.fields == fields
    assert packed.field("topic") == "%RETRY%g"
    assert packed.field("none") is None
    assert decode(b'{"code":105}').field("topic") is None
