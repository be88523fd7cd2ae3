"""Registration bodies, written anew: merged, without the write permission, compressed. Pure.

What a name server reads of a topic is its name, queues, permission and unit flag; the filter
type, attributes and order flag end with the broker. So the compressed text has five words: a
sixth, the attributes, is refused by 4.x name servers and used by none.

The compressed form has no place for the unit flag (topicSysFlag). A table that has one travels
as JSON as long as it fits a stock server's frame: routes that are right come before bytes saved.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping

import msgspec

from signpost_namesrv.wire.bodies import DataVersion, MappingInfo
from signpost_namesrv.wire.codes import PERM_WRITE, V3_0_11, V5_0_0
from signpost_namesrv.wire.command import Command
from signpost_namesrv.wire.registration import RegistrationBody, TopicConfig, decode_registration

FITS_A_FRAME = 16 * 1024 * 1024 - 64 * 1024
"""A body that a stock name server takes: its frame is 16 MiB, the header in it included."""

_LEVEL = 6


class Table(msgspec.Struct, frozen=True):
    """All that a broker's registrations have said."""

    version: DataVersion = DataVersion()
    topics: Mapping[str, TopicConfig] = {}
    mappings: Mapping[str, MappingInfo] = {}
    filter_servers: list[str] | None = None

    def without_write(self) -> "Table":
        """The same broker, read-only."""
        topics = {
            name: msgspec.structs.replace(topic, perm=topic.perm & ~PERM_WRITE)
            for name, topic in self.topics.items()
        }
        return msgspec.structs.replace(self, topics=topics)


def unpack(command: Command) -> Table:
    """The table of a REGISTER_BROKER; BodyError when it has none. Blocks for its length."""
    compressed = (command.field("compressed") or "").lower() == "true"
    work = decode_registration(command.body, compressed=compressed, version=command.version)
    while True:
        try:
            next(work)
        except StopIteration as done:
            return _table(done.value)


def pack(command: Command, table: Table) -> Command:
    """The request with this table as its body. The same table gives the same bytes."""
    if command.version < V3_0_11:
        return _with_body(command, _wrapper(table), compressed=False)
    flagged = any(topic.topic_sys_flag for topic in table.topics.values())
    strange = any(" " in name for name in table.topics)
    if flagged or strange:
        body = _plain(table)
        if len(body) <= FITS_A_FRAME:
            return _with_body(command, body, compressed=False)
    return _with_body(command, _compressed(table, command.version), compressed=True)


def _table(body: RegistrationBody) -> Table:
    return Table(body.data_version, dict(body.topics), body.mappings, body.filter_servers)


def _with_body(command: Command, body: bytes, *, compressed: bool) -> Command:
    fields = dict(command.fields or {})
    fields["compressed"] = "true" if compressed else "false"
    fields["bodyCrc32"] = str(zlib.crc32(body) & 0x7FFFFFFF)
    return msgspec.structs.replace(command, fields=fields, body=body)


def _plain(table: Table) -> bytes:
    wrapper = b'"topicConfigSerializeWrapper":' + _wrapper(table)
    servers = msgspec.json.encode(table.filter_servers or [])
    return b'{"filterServerList":' + servers + b"," + wrapper + b"}"


def _wrapper(table: Table) -> bytes:
    topics = {
        name: msgspec.structs.replace(table.topics[name], topic_name=name)
        for name in sorted(table.topics)
    }
    mappings = {name: table.mappings[name] for name in sorted(table.mappings)}
    wrapper = {
        "dataVersion": table.version,
        "topicConfigTable": topics,
        "topicQueueMappingInfoMap": mappings,
    }
    return msgspec.json.encode(wrapper)


def _compressed(table: Table, version: int) -> bytes:
    return zlib.compress(b"".join(_pieces(table, version)), _LEVEL)


def _pieces(table: Table, version: int) -> Iterator[bytes]:
    yield _sized(msgspec.json.encode(table.version))
    yield struct.pack(">i", len(table.topics))
    for name, t in sorted(table.topics.items()):
        text = f"{name} {t.read_queue_nums} {t.write_queue_nums} {t.perm} SINGLE_TAG"
        yield _sized(text.encode())
    yield _sized(msgspec.json.encode(table.filter_servers or []))
    if version >= V5_0_0:
        yield struct.pack(">i", len(table.mappings))
        for _, mapping in sorted(table.mappings.items()):
            yield _sized(msgspec.json.encode(mapping))


def _sized(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data
