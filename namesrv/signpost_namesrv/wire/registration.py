"""The body of REGISTER_BROKER, plain and compressed.

A broker may hold 100,000 topics, so decoding is a generator that yields after every slice: the
caller decides what else happens in between. Nothing is handed out before all of it was read.
"""

import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence

import msgspec

from . import dialect
from .bodies import DataVersion, Int32, MappingInfo
from .codes import V3_0_11, V5_0_0
from .errors import BodyError

SLICE_BYTES = 64 * 1024
MAX_INFLATED = 64 * 1024 * 1024
MAX_PIECE = 1024 * 1024
MAX_TOPICS = 500_000
"""Of one broker. Half a million bounds what one frame can make of our memory."""
_ZLIB = b"\x78"
_TURN_BYTES = 16 * 1024
_MAX_DIGITS = 9


class TopicConfig(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """One topic of a broker's table, as far as routes need it."""

    topic_name: str | None = None
    read_queue_nums: Int32 = 16
    write_queue_nums: Int32 = 16
    perm: Int32 = 6
    topic_sys_flag: Int32 = 0


class RegistrationBody(msgspec.Struct, frozen=True):
    """What a broker says of itself. No filter server list (None) differs from an empty one."""

    data_version: DataVersion = DataVersion()
    topics: Sequence[tuple[str, TopicConfig]] = ()
    mappings: Mapping[str, MappingInfo] = {}
    filter_servers: list[str] | None = None


class _Wrapper(msgspec.Struct, rename="camel"):
    data_version: DataVersion | None = None
    topic_config_table: msgspec.Raw = msgspec.Raw(b"{}")
    topic_queue_mapping_info_map: dict[str, MappingInfo] | None = None


class _Body(msgspec.Struct, rename="camel"):
    topic_config_serialize_wrapper: _Wrapper | None = None
    filter_server_list: list[str] | None = None


_body = msgspec.json.Decoder(_Body)
_wrapper = msgspec.json.Decoder(_Wrapper)
_table = msgspec.json.Decoder(dict[str, TopicConfig])
_version = msgspec.json.Decoder(DataVersion)
_servers = msgspec.json.Decoder(list[str])
_mapping = msgspec.json.Decoder(MappingInfo)

Decoding = Generator[None, None, RegistrationBody]


def decode_registration(body: bytes, *, compressed: bool, version: int) -> Decoding:
    """Decode what a broker of this version sent; a broker may send no body at all.

    Stock 5.3 brokers with compressedRegister compress the body and say that they did not, so the
    first byte counts too: no JSON begins like a zlib stream.
    """
    if not body:
        return RegistrationBody()
    if compressed or body.startswith(_ZLIB):
        return (yield from _decode_compressed(body, version))
    if version < V3_0_11:
        wrapper = dialect.decode(_wrapper, body, "TopicConfigSerializeWrapper")
        return (yield from _finish(wrapper, None))
    outer = dialect.decode(_body, body, "RegisterBrokerBody")
    wrapper = outer.topic_config_serialize_wrapper or _Wrapper()
    return (yield from _finish(wrapper, outer.filter_server_list or []))


def _finish(wrapper: _Wrapper, filter_servers: list[str] | None) -> Decoding:
    topics: list[tuple[str, TopicConfig]] = []
    for part in _decode_table(bytes(wrapper.topic_config_table)):
        topics += ((config.topic_name or name, config) for name, config in part.items())
        if len(topics) > MAX_TOPICS:
            raise BodyError(f"topicConfigTable: more than {MAX_TOPICS} topics")
        yield
    return RegistrationBody(
        data_version=wrapper.data_version or DataVersion(),
        topics=topics,
        mappings=wrapper.topic_queue_mapping_info_map or {},
        filter_servers=filter_servers,
    )


def _decode_table(raw: bytes) -> Iterator[dict[str, TopicConfig]]:
    """Decode the table in slices, cut where an entry ends.

    `},"` ends an entry, or an object inside one; only a cut at the former leaves valid JSON, so
    the decoder itself says which it was.
    """
    position = 1
    while len(raw) - position > SLICE_BYTES:
        end = position + SLICE_BYTES
        for _ in range(4):
            end = raw.rfind(b'},"', position, end)
            if end < 0:
                break
            try:
                part = _table.decode(b"{%b}" % raw[position : end + 1])
            except dialect.NOT_JSON:
                continue
            yield part
            position = end + 2
            break
        else:
            end = -1
        if end < 0:  # no end of an entry near by: take the rest in one piece
            break
    rest = raw if position == 1 else b"{" + raw[position:]
    if rest != b"null":
        yield dialect.decode(_table, rest, "topicConfigTable")


class _Inflated:
    """Length-prefixed pieces out of a zlib stream, inflated no further than they are read."""

    def __init__(self, data: bytes) -> None:
        self._inflater = zlib.decompressobj()
        self._input = data
        self._buffer = bytearray()
        self._position = 0
        self._total = 0
        self._turn = 0

    def count(self, what: str) -> int:
        return self._number(what, MAX_TOPICS)

    def piece(self, what: str) -> bytes:
        return self._read(self._number(f"length of {what}", MAX_PIECE), what)

    def turn_is_over(self) -> bool:
        """Whether enough was read for others to have a turn; asking begins the next one."""
        if self._turn < _TURN_BYTES:
            return False
        self._turn = 0
        return True

    def _number(self, what: str, limit: int) -> int:
        value = int.from_bytes(self._read(4, what), "big", signed=True)
        if not 0 <= value <= limit:
            raise BodyError(f"compressed body: {what} {value} is not between 0 and {limit}")
        return value

    def _read(self, size: int, what: str) -> bytes:
        while len(self._buffer) - self._position < size:
            self._inflate(what)
        start = self._position
        self._position += size
        self._turn += size
        return bytes(self._buffer[start : self._position])

    def _inflate(self, what: str) -> None:
        try:
            more = self._inflater.decompress(self._input, SLICE_BYTES)
        except zlib.error as e:
            raise BodyError(f"compressed body: {e}") from e
        self._input = self._inflater.unconsumed_tail
        self._total += len(more)
        if not more:
            raise BodyError(f"compressed body ends inside {what}")
        if self._total > MAX_INFLATED:
            raise BodyError(f"compressed body inflates to more than {MAX_INFLATED} bytes")
        del self._buffer[: self._position]
        self._position = 0
        self._buffer += more


def _decode_compressed(body: bytes, version: int) -> Decoding:
    stream = _Inflated(body)
    data_version = dialect.decode(_version, stream.piece("DataVersion"), "DataVersion")
    topics: list[tuple[str, TopicConfig]] = []
    for number in range(stream.count("topic count")):
        config = _decode_topic_text(stream.piece(f"topic {number}"))
        topics.append((config.topic_name or "", config))
        if stream.turn_is_over():
            yield
    servers = dialect.decode(_servers, stream.piece("filter servers"), "filter servers")
    mappings: dict[str, MappingInfo] = {}
    if version >= V5_0_0:
        for number in range(stream.count("mapping count")):
            mapping = dialect.decode(_mapping, stream.piece(f"mapping {number}"), "mapping")
            mappings[mapping.topic] = mapping
            if stream.turn_is_over():
                yield
    return RegistrationBody(data_version, topics, mappings, servers)


def _decode_topic_text(text: bytes) -> TopicConfig:
    """`name readQueues writeQueues perm filterType [attributes]`, separated by single spaces."""
    try:
        name, read, write, perm, *_ = text.decode().split(" ", 5)
        return TopicConfig(name, _small(read), _small(write), _small(perm))
    except ValueError as e:
        shown = text[:80].decode(errors="replace")
        raise BodyError(f"compressed topic {shown!r} is not 'name read write perm ...'") from e


def _small(digits: str) -> int:
    """A number that Java reads as an int; whatever has more digits would spoil the route."""
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"{digits} has too many digits")
    return int(digits)
