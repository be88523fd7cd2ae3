"""The remoting protocol a second time, written from its description: no code of the server's.

A mistake in the server's own codec therefore cannot cancel itself out.
"""

import json
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

RESPONSE = 1
ONE_WAY = 2


def framed(header: bytes, body: bytes = b"", serialization: int = 0) -> bytes:
    """A whole frame around any header."""
    word = serialization << 24 | len(header)
    return struct.pack(">II", 4 + len(header) + len(body), word) + header + body


def request(
    code: int,
    fields: Mapping[str, Any] | None = None,
    body: bytes = b"",
    *,
    opaque: int = 1,
    flag: int = 0,
    version: int = 479,
    binary: bool = False,
) -> bytes:
    """A request as a stock Java client writes it."""
    if binary:
        return framed(binary_header(code, fields or {}, opaque, flag, version), body, 1)
    head: dict[str, Any] = {"code": code}
    if fields is not None:
        head["extFields"] = fields
    head |= {"flag": flag, "language": "JAVA", "opaque": opaque}
    head |= {"serializeTypeCurrentRPC": "JSON", "version": version}
    return framed(json.dumps(head, separators=(",", ":"), ensure_ascii=False).encode(), body)


def binary_header(
    code: int, fields: Mapping[str, Any], opaque: int = 1, flag: int = 0, version: int = 479
) -> bytes:
    packed = b"".join(_text(k, ">h") + _text(str(v), ">i") for k, v in fields.items())
    fixed = struct.pack(">hbhii", code, 0, version, opaque, flag)
    return fixed + struct.pack(">i", 0) + struct.pack(">i", len(packed)) + packed


def _text(text: str, width: str) -> bytes:
    data = text.encode()
    return struct.pack(width, len(data)) + data


@dataclass(frozen=True)
class Answer:
    """What came back, or what the server asks of its own accord."""

    code: int
    opaque: int
    flag: int
    remark: str | None
    fields: dict[str, str]
    body: bytes
    binary: bool

    def json(self) -> Any:
        return json.loads(self.body)


def parse(frame: bytes) -> Answer:
    """Read one frame, its length word included."""
    size, word = struct.unpack(">II", frame[:8])
    assert size == len(frame) - 4
    end = 8 + (word & 0xFFFFFF)
    header, body = frame[8:end], frame[end:]
    if word >> 24 == 0:
        head = json.loads(header)
        assert head["serializeTypeCurrentRPC"] == "JSON"
        return Answer(
            head["code"],
            head["opaque"],
            head["flag"],
            head.get("remark"),
            head.get("extFields") or {},
            body,
            False,
        )
    code, _, _, opaque, flag, length = struct.unpack(">hbhiii", header[:17])
    remark = header[17 : 17 + length].decode() or None
    at = 17 + length + 4
    fields = {}
    while at < len(header):
        (length,) = struct.unpack(">h", header[at : at + 2])
        name = header[at + 2 : at + 2 + length].decode()
        at += 2 + length
        (length,) = struct.unpack(">i", header[at : at + 4])
        fields[name] = header[at + 4 : at + 4 + length].decode()
        at += 4 + length
    return Answer(code, opaque, flag, remark, fields, body, True)


def parse_all(data: bytes) -> list[Answer]:
    """Read a row of whole frames."""
    answers = []
    while data:
        end = 4 + int.from_bytes(data[:4], "big")
        answers.append(parse(data[:end]))
        data = data[end:]
    return answers


def topic_json(name: str, read: int = 4, write: int = 4, perm: int = 6, flag: int = 0) -> Any:
    return {
        "attributes": {},
        "order": False,
        "perm": perm,
        "readQueueNums": read,
        "topicFilterType": "SINGLE_TAG",
        "topicName": name,
        "topicSysFlag": flag,
        "writeQueueNums": write,
    }


def version_json(counter: int = 1, state: int = 0, timestamp: int = 1_700_000_000_000) -> Any:
    return {"counter": counter, "stateVersion": state, "timestamp": timestamp}


def plain_body(
    topics: Mapping[str, Any],
    version: Any = None,
    filters: Sequence[str] = (),
    mappings: Mapping[str, Any] | None = None,
) -> bytes:
    """RegisterBrokerBody as JSON; `topics` as of `topic_json`, by name."""
    wrapper: dict[str, Any] = {"dataVersion": version or version_json()}
    wrapper |= {"topicConfigTable": topics, "topicQueueMappingInfoMap": mappings or {}}
    body = {"filterServerList": list(filters), "topicConfigSerializeWrapper": wrapper}
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()


def pieces(
    topics: Iterable[str],
    version: Any = None,
    filters: Sequence[str] = (),
    mappings: Sequence[Any] | None = (),
) -> bytes:
    """The same before it is compressed; `topics` are texts, no `mappings` before 5.0."""
    texts = list(topics)
    out = [_sized(json.dumps(version or version_json()).encode()), struct.pack(">i", len(texts))]
    out += [_sized(text.encode()) for text in texts]
    out.append(_sized(json.dumps(list(filters)).encode()))
    if mappings is not None:
        out.append(struct.pack(">i", len(mappings)))
        out += [_sized(json.dumps(mapping).encode()) for mapping in mappings]
    return b"".join(out)


def compressed_body(
    topics: Iterable[str],
    version: Any = None,
    filters: Sequence[str] = (),
    mappings: Sequence[Any] | None = (),
) -> bytes:
    return zlib.compress(pieces(topics, version, filters, mappings))


def crc(body: bytes) -> str:
    """`bodyCrc32` as Java computes it."""
    return str(zlib.crc32(body) & 0x7FFFFFFF)


def _sized(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data
