"""A remoting peer on plain sockets, with its own little codec.

It shares no code with the server under test, so that a mistake cannot cancel itself out.
"""

from __future__ import annotations

import itertools
import json
import socket
import ssl
import struct
from dataclasses import dataclass, field
from typing import Any, Literal

Serialization = Literal["JSON", "ROCKETMQ"]
LANGUAGES: tuple[str, ...]
LANGUAGES = ("JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO")
LANGUAGES += ("PHP", "OMS", "RUST", "NODE_JS")


@dataclass(frozen=True, slots=True)
class Request:
    """What one request looks like; `raw` replaces its header bytes when set."""

    code: int
    fields: dict[str, str] | None = None
    body: bytes = b""
    version: int = 479
    serialization: Serialization = "JSON"
    language: str = "JAVA"
    flag: int = 0
    raw: bytes | None = None

    @property
    def answered(self) -> bool:
        """Whether an answer is due: not to one-way requests, responses and empty headers."""
        return not self.flag & 3 and self.raw != b""

    def encode(self, opaque: int) -> bytes:
        """The whole frame."""
        header = self.raw
        if header is None:
            header = self._json(opaque) if self.serialization == "JSON" else self._binary(opaque)
        kind = 0 if self.serialization == "JSON" else 1
        word = kind << 24 | len(header)
        return struct.pack(">iI", 4 + len(header) + len(self.body), word) + header + self.body

    def _json(self, opaque: int) -> bytes:
        keys: dict[str, Any] = {"code": self.code, "flag": self.flag, "language": self.language}
        keys |= {"opaque": opaque, "serializeTypeCurrentRPC": "JSON", "version": self.version}
        if self.fields is not None:
            keys["extFields"] = self.fields
        return json.dumps(keys).encode()

    def _binary(self, opaque: int) -> bytes:
        language = LANGUAGES.index(self.language)
        entries = b"".join(
            struct.pack(">h", len(k.encode()))
            + k.encode()
            + struct.pack(">i", len(v.encode()))
            + v.encode()
            for k, v in (self.fields or {}).items()
        )
        return (
            struct.pack(">hbhii", self.code, language, self.version, opaque, self.flag)
            + struct.pack(">ii", 0, len(entries))
            + entries
        )


@dataclass(frozen=True, slots=True)
class Frame:
    """A received command. `header` is the header as sent; `keys` its JSON keys in order."""

    code: int
    language: str
    version: int
    opaque: int
    flag: int
    remark: str | None
    fields: dict[str, str] | None
    serialization: Serialization
    body: bytes
    header: bytes = field(repr=False)
    keys: tuple[str, ...] = ()


def decode(payload: bytes) -> Frame:
    """A frame without its leading total length."""
    (word,) = struct.unpack(">I", payload[:4])
    size = word & 0xFFFFFF
    header, body = payload[4 : 4 + size], payload[4 + size :]
    return _json_frame(header, body) if word >> 24 == 0 else _binary_frame(header, body)


def _json_frame(header: bytes, body: bytes) -> Frame:
    keys = json.loads(header)
    return Frame(
        keys["code"],
        keys["language"],
        keys["version"],
        keys["opaque"],
        keys["flag"],
        keys.get("remark"),
        keys.get("extFields"),
        keys["serializeTypeCurrentRPC"],
        body,
        header,
        tuple(keys),
    )


def _binary_frame(header: bytes, body: bytes) -> Frame:
    code, language, version, opaque, flag, size = struct.unpack(">hbhiii", header[:17])
    at = 17 + size
    remark = header[17:at].decode() if size else None
    (size,) = struct.unpack(">i", header[at : at + 4])
    entries, at = header[at + 4 :], 0
    assert len(entries) == size, "extFields length does not end the header"
    fields: dict[str, str] = {}
    while at < size:
        (length,) = struct.unpack(">h", entries[at : at + 2])
        key, at = entries[at + 2 : at + 2 + length].decode(), at + 2 + length
        (length,) = struct.unpack(">i", entries[at : at + 4])
        fields[key], at = entries[at + 4 : at + 4 + length].decode(), at + 4 + length
    return Frame(
        code,
        LANGUAGES[language],
        version,
        opaque,
        flag,
        remark,
        fields if size else None,
        "ROCKETMQ",
        body,
        header,
    )


class Peer:
    """One connection. Requests the server sends by itself are kept in `received`."""

    def __init__(self, port: int, timeout: float = 10.0, tls: ssl.SSLContext | None = None) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            self._socket = tls.wrap_socket(self._socket, server_hostname="127.0.0.1")
        self._input = self._socket.makefile("rb")
        self._opaque = itertools.count(1)
        self.received: list[Frame] = []

    def call(self, request: Request) -> Frame | None:
        """Send and wait for the answer; none for a one-way request or a closed connection."""
        try:
            self._socket.sendall(request.encode(next(self._opaque)))
        except (BrokenPipeError, ConnectionResetError):
            return None
        if not request.answered:
            return None
        while (frame := self.read()) is not None:
            if frame.flag & 1:
                return frame
            self.received.append(frame)
        return None

    def read(self) -> Frame | None:
        """The next frame, or None when the peer closed the connection."""
        try:
            size = self._input.read(4)
            return (
                decode(self._input.read(struct.unpack(">i", size)[0])) if len(size) == 4 else None
            )
        except ConnectionResetError:
            return None

    def close(self) -> None:
        """Close at once."""
        self._input.close()
        self._socket.close()
