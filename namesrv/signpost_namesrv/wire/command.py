"""Commands: the value that travels in a frame, with either of its two header encodings.

Here: bytes <-> Command. Not here: what a command means, and who may send it.
"""

import struct
from collections.abc import Mapping
from typing import Final

import msgspec

from .codes import FLAG_ONEWAY, FLAG_RESPONSE, LANGUAGE_NUMBERS, LANGUAGES, V5_3_3
from .dialect import NOT_JSON
from .errors import FrameError

JSON_HEADER: Final = 0
BINARY_HEADER: Final = 1

_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One request or response. `binary` is the encoding of its header; an answer keeps it."""

    code: int
    opaque: int
    flag: int = 0
    language: str = "JAVA"
    version: int = V5_3_3
    remark: str | None = None
    fields: Mapping[str, str] | None = None
    binary: bool = False
    body: bytes = b""

    @property
    def is_response(self) -> bool:
        """Whether this answers something that we asked."""
        return bool(self.flag & FLAG_RESPONSE)

    @property
    def is_oneway(self) -> bool:
        """Whether the sender wants no answer."""
        return bool(self.flag & FLAG_ONEWAY)

    def field(self, name: str) -> str | None:
        """The value of one extension field."""
        return self.fields.get(name) if self.fields else None


class _JsonHeader(msgspec.Struct):
    code: int = 0
    language: str = "JAVA"
    version: int = 0
    opaque: int = 0
    flag: int = 0
    remark: str | None = None
    extFields: dict[str, str | int | float | bool | None] | None = None  # noqa: N815


_json_header = msgspec.json.Decoder(_JsonHeader)
_fixed = struct.Struct(">hbhii")
_word = struct.Struct(">I")
_prefix = struct.Struct(">II")


def decode_frame(frame: bytes | memoryview) -> Command:
    """Decode what follows the length word of a frame."""
    if len(frame) < 4:
        raise FrameError(f"frame of {len(frame)} bytes has no room for its header word")
    word: int = _word.unpack_from(frame)[0]
    encoding, length = word >> 24, word & 0xFFFFFF
    if 4 + length > len(frame):
        raise FrameError(f"header of {length} bytes in a frame of {len(frame)} bytes")
    header, body = bytes(frame[4 : 4 + length]), bytes(frame[4 + length :])
    if encoding == JSON_HEADER:
        return _decode_json(header, body)
    if encoding == BINARY_HEADER:
        return _decode_binary(header, body)
    raise FrameError(f"header serialization {encoding} is neither JSON (0) nor ROCKETMQ (1)")


def encode_frame(command: Command) -> bytes:
    """The whole frame, its length word included."""
    if command.binary:
        header, encoding = _encode_binary(command), BINARY_HEADER
    else:
        header, encoding = encode_json_header(command), JSON_HEADER
    size = 4 + len(header) + len(command.body)
    return _prefix.pack(size, encoding << 24 | len(header)) + header + command.body


def encode_json_header(command: Command) -> bytes:
    """The header as JSON with its keys in the order in which Java peers write them."""
    parts = [b'{"code":%d' % command.code]
    if command.fields is not None:
        parts.append(b',"extFields":' + msgspec.json.encode(command.fields, order="sorted"))
    language = msgspec.json.encode(command.language)
    parts.append(b',"flag":%d,"language":%b,"opaque":%d' % (command.flag, language, command.opaque))
    if command.remark is not None:
        parts.append(b',"remark":' + msgspec.json.encode(command.remark))
    parts.append(b',"serializeTypeCurrentRPC":"JSON","version":%d}' % command.version)
    return b"".join(parts)


def _decode_json(header: bytes, body: bytes) -> Command:
    try:
        head = _json_header.decode(header)
    except NOT_JSON as e:
        raise FrameError(f"JSON header: {e}") from e
    for name, value in (("code", head.code), ("opaque", head.opaque), ("flag", head.flag)):
        if not _INT32_MIN <= value <= _INT32_MAX:
            raise FrameError(f"JSON header: {name} {value} is no 32-bit integer")
    fields = head.extFields
    return Command(
        code=head.code,
        opaque=head.opaque,
        flag=head.flag,
        language=head.language,
        version=head.version,
        remark=head.remark,
        fields=None if fields is None else _as_strings(fields),
        body=body,
    )


def _as_strings(fields: Mapping[str, str | int | float | bool | None]) -> dict[str, str]:
    """Peers in other languages write bare numbers and booleans; null means absent."""
    return {
        name: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for name, value in fields.items()
        if value is not None
    }


def _decode_binary(header: bytes, body: bytes) -> Command:
    try:
        code, language, version, opaque, flag = _fixed.unpack_from(header)
        remark, position = _take(header, _fixed.size, 4)
        packed, position = _take(header, position, 4)
        fields: dict[str, str] = {}
        position = 0
        while position < len(packed):
            name, position = _take(packed, position, 2)
            value, position = _take(packed, position, 4)
            fields[name.decode()] = value.decode()
        return Command(
            code=code,
            opaque=opaque,
            flag=flag,
            language=LANGUAGES[language] if 0 <= language < len(LANGUAGES) else "OTHER",
            version=version,
            remark=remark.decode() if remark else None,
            fields=fields or None,
            binary=True,
            body=body,
        )
    except (struct.error, UnicodeDecodeError) as e:
        raise FrameError(f"binary header: {e}") from e


def _take(data: bytes, position: int, width: int) -> tuple[bytes, int]:
    start = position + width
    if start > len(data):
        raise FrameError(f"binary header ends inside a length at byte {position}")
    length = int.from_bytes(data[position:start], "big", signed=True)
    if not 0 <= length <= len(data) - start:
        raise FrameError(f"binary header: length {length} at byte {position} points outside")
    return data[start : start + length], start + length


def _encode_binary(command: Command) -> bytes:
    remark = command.remark.encode() if command.remark else b""
    packed = b"".join(
        _with_length(name.encode(), 2) + _with_length(value.encode(), 4)
        for name, value in sorted((command.fields or {}).items())
    )
    fixed = _fixed.pack(
        command.code,
        LANGUAGE_NUMBERS.get(command.language, LANGUAGE_NUMBERS["OTHER"]),
        command.version,
        command.opaque,
        command.flag,
    )
    return fixed + _with_length(remark, 4) + _with_length(packed, 4)


def _with_length(data: bytes, width: int) -> bytes:
    return len(data).to_bytes(width, "big") + data
