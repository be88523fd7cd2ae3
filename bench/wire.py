"""The remoting protocol as far as the bench speaks it: JSON headers over a blocking socket.

Not the package's own codec: a fault in that must not hide in the bench.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass

REGISTER_BROKER = 103
GET_ROUTE = 105
GET_CLUSTER = 106
VERSION = 479  # 5.3.3


class AnswerError(Exception):
    """A server closed the connection or answered with an error."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered."""

    code: int
    opaque: int
    remark: str
    body: bytes


def header(code: int, fields: Mapping[str, str], opaque: int, body_length: int) -> bytes:
    """All of a request's frame that comes before its body."""
    command: dict[str, object] = {"code": code, "extFields": dict(fields), "flag": 0}
    command |= {"language": "JAVA", "opaque": opaque}
    command |= {"serializeTypeCurrentRPC": "JSON", "version": VERSION}
    text = json.dumps(command, separators=(",", ":")).encode()
    return struct.pack(">ii", 4 + len(text) + body_length, len(text)) + text


class Client:
    """One connection. Requests may be sent ahead; answers are read in order."""

    def __init__(self, port: int, timeout: float = 60.0) -> None:
        self._socket = socket.socket()
        # A small buffer: a large frame then holds the sender's core in short slices only.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 256 << 10)
        self._socket.settimeout(timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.connect(("127.0.0.1", port))
        self._file = self._socket.makefile("rb")
        self._opaque = 0

    def send(self, code: int, fields: Mapping[str, str], body: bytes = b"") -> None:
        """Send a request."""
        self._socket.sendall(header(code, fields, self._opaque, len(body)))
        self._opaque += 1
        if body:
            self._socket.sendall(body)

    def receive(self) -> Answer:
        """Read one answer."""
        length, word = struct.unpack(">iI", self._exactly(8))
        text = json.loads(self._exactly(word & 0xFFFFFF))
        body = self._exactly(length - 4 - (word & 0xFFFFFF))
        return Answer(text["code"], text["opaque"], text.get("remark") or "", body)

    def call(self, code: int, fields: Mapping[str, str], body: bytes = b"") -> Answer:
        """Send a request and read its answer, which must be a success."""
        self.send(code, fields, body)
        answer = self.receive()
        if answer.code:
            raise AnswerError(f"request {code} was answered with {answer.code}: {answer.remark}")
        return answer

    def close(self) -> None:
        """Close the connection."""
        self._file.close()
        self._socket.close()

    def _exactly(self, count: int) -> bytes:
        data = self._file.read(count)
        if len(data) < count:
            raise AnswerError("the server closed the connection")
        return data
