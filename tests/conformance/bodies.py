"""Bodies as real brokers write them, and a reader of both JSON dialects."""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = Any


@dataclass(frozen=True, slots=True)
class Topic:
    """One entry of a broker's topic table."""

    name: str
    read: int = 4
    write: int = 4
    perm: int = 6
    flag: int = 0
    attributes: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> Json:
        return {
            "topicName": self.name,
            "readQueueNums": self.read,
            "writeQueueNums": self.write,
            "perm": self.perm,
            "topicFilterType": "SINGLE_TAG",
            "topicSysFlag": self.flag,
            "order": False,
            "attributes": dict(self.attributes),
        }

    def as_text(self) -> str:
        text = f"{self.name} {self.read} {self.write} {self.perm} SINGLE_TAG"
        if not self.attributes:
            return text
        return f"{text} {json.dumps(self.attributes, separators=(',', ':'))}"


@dataclass(frozen=True, slots=True)
class Registration:
    """A RegisterBrokerBody. Mapping infos are given by topic."""

    topics: Sequence[Topic] = ()
    counter: int = 1
    state: int = 0
    timestamp: int = 1_700_000_000_000
    filters: Sequence[str] = ()
    mappings: Mapping[str, Json] = field(default_factory=dict)

    @property
    def version(self) -> Json:
        return {"counter": self.counter, "stateVersion": self.state, "timestamp": self.timestamp}

    def wrapper(self) -> Json:
        """The part that brokers before 3.0.11 sent by itself."""
        return {
            "dataVersion": self.version,
            "topicConfigTable": {topic.name: topic.as_json() for topic in self.topics},
            "topicQueueMappingInfoMap": dict(self.mappings),
            "topicQueueMappingDetailMap": {},
            "mappingDataVersion": self.version,
        }

    def plain(self) -> bytes:
        body = {
            "filterServerList": list(self.filters),
            "topicConfigSerializeWrapper": self.wrapper(),
        }
        return json.dumps(body).encode()

    def compressed(self, *, mappings: bool = True) -> bytes:
        parts = [_sized(json.dumps(self.version)), struct.pack(">i", len(self.topics))]
        parts += [_sized(topic.as_text()) for topic in self.topics]
        parts.append(_sized(json.dumps(list(self.filters))))
        if mappings:
            parts.append(struct.pack(">i", len(self.mappings)))
            parts += [_sized(json.dumps(info)) for info in self.mappings.values()]
        return zlib.compress(b"".join(parts))


def _sized(text: str) -> bytes:
    return struct.pack(">i", len(text.encode())) + text.encode()


def crc(body: bytes) -> str:
    """The bodyCrc32 field as Java computes it."""
    return str(zlib.crc32(body) & 0x7FFFFFFF)


def queue_datas(*brokers: str, read: int = 8, write: int = 8, perm: int = 6) -> bytes:
    """The body of 217: the topic's queues by broker."""
    queues = [
        {"brokerName": name, "readQueueNums": read, "writeQueueNums": write, "perm": perm}
        | {"topicSysFlag": 0}
        for name in brokers
    ]
    return json.dumps({"queueDatas": queues}).encode()


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|(?<=[{,])(-?\d+)(?=:)')


def parse(text: str) -> tuple[Json, bool]:
    """A JSON value of either dialect, and whether any of its keys were unquoted integers."""
    unquoted = False

    def quote(match: re.Match[str]) -> str:
        nonlocal unquoted
        if match[1] is None:
            return match[0]
        unquoted = True
        return f'"{match[1]}"'

    standard = _TOKEN.sub(quote, text)
    return json.loads(standard), unquoted
