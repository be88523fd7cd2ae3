"""Brokers as the bench plays them: registrations with the bytes a stock 5.3.3 broker sends."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.wire import REGISTER_BROKER, Answer, Client

CLUSTER = "bench"
_EPOCH = 1_700_000_000_000


def topic_names(count: int, prefix: str = "bench-topic") -> list[str]:
    """The names of so many topics."""
    return [f"{prefix}-{number:06d}" for number in range(count)]


def plain_body(topics: Iterable[str], timestamp: int = 0, counter: int = 0) -> bytes:
    """A registration body as JSON; `counter` also changes the first topic's queues."""
    table = {name: _topic(name, 4) for name in topics}
    first = next(iter(table), None)
    if first:
        table[first] = _topic(first, 4 + counter % 4)
    wrapper: dict[str, object] = {"dataVersion": _version(timestamp, counter)}
    wrapper |= {"mappingDataVersion": _version(timestamp, 0), "topicConfigTable": table}
    wrapper |= {"topicQueueMappingDetailMap": {}, "topicQueueMappingInfoMap": {}}
    return _json({"filterServerList": [], "topicConfigSerializeWrapper": wrapper})


def compressed_body(topics: Sequence[str], timestamp: int = 0, counter: int = 0) -> bytes:
    """The same in the compressed form, which tables too long for a frame need."""
    parts = [_sized(_json(_version(timestamp, counter))), struct.pack(">i", len(topics))]
    parts += [_sized(f"{name} 4 4 6 SINGLE_TAG {{}}".encode()) for name in topics]
    parts += [_sized(b"[]"), struct.pack(">i", 0)]
    return zlib.compress(b"".join(parts))


def route_body(brokers: int) -> bytes:
    """The route that a name server answers for a topic on brokers 0 to `brokers` - 1."""
    names = [(f"broker-{number:03d}", _address(number)) for number in range(brokers)]
    groups = [
        {
            "brokerAddrs": {"0": f"{address}:10911"},
            "brokerName": name,
            "cluster": CLUSTER,
            "enableActingMaster": False,
        }
        for name, address in names
    ]
    queues = [
        {"brokerName": name, "perm": 6, "readQueueNums": 4, "topicSysFlag": 0, "writeQueueNums": 4}
        for name, _ in names
    ]
    return _json({"brokerDatas": groups, "filterServerTable": {}, "queueDatas": queues})


@dataclass(frozen=True, slots=True)
class Registration:
    """A request that is ready to be sent."""

    fields: Mapping[str, str]
    body: bytes


class Broker:
    """A master broker with a connection of its own, which keeps its routes alive."""

    def __init__(self, port: int, number: int) -> None:
        self._client = Client(port)
        address = _address(number)
        self._fields = {
            "brokerId": "0",
            "clusterName": CLUSTER,
            "brokerAddr": f"{address}:10911",
            "enableActingMaster": "false",
            "haServerAddr": f"{address}:10912",
            "brokerName": f"broker-{number:03d}",
        }

    def prepare(self, body: bytes, compressed: bool = False) -> Registration:
        """A registration with that body, its checksum counted."""
        crc = zlib.crc32(body) & 0x7FFFFFFF
        sums = {"bodyCrc32": str(crc), "compressed": str(compressed).lower()}
        return Registration(self._fields | sums, body)

    def send(self, prepared: Registration, code: int = REGISTER_BROKER) -> None:
        """Send it, and read the answer later."""
        self._client.send(code, prepared.fields, prepared.body)

    def answer(self) -> Answer:
        """The answer to what was sent first."""
        return self._client.receive()

    def register(self, prepared: Registration) -> None:
        """Register; an error in the answer is raised."""
        self._client.call(REGISTER_BROKER, prepared.fields, prepared.body)

    def close(self) -> None:
        """Leave: a name server drops the routes of a closed connection."""
        self._client.close()


def _address(number: int) -> str:
    return f"10.0.{number // 250}.{number % 250 + 1}"


def _topic(name: str, queues: int) -> dict[str, object]:
    return {
        "attributes": {},
        "order": False,
        "perm": 6,
        "readQueueNums": queues,
        "topicFilterType": "SINGLE_TAG",
        "topicName": name,
        "topicSysFlag": 0,
        "writeQueueNums": queues,
    }


def _version(timestamp: int, counter: int) -> dict[str, int]:
    return {"counter": counter, "stateVersion": 0, "timestamp": _EPOCH + timestamp}


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _sized(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data
