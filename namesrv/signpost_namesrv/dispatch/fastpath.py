"""Look-ups answered from their bytes, without decoding anything.

Nearly all traffic is GET_ROUTEINFO_BY_TOPIC from stock clients, whose requests differ in two
places only: the topic and the opaque, which the answer repeats. A request is

    head  "opaque":  digits  tail

where the head holds both length words, the code, the topic and all options, and the tail is
`,"serializeTypeCurrentRPC":"JSON","version":479}`. After one answer was made the slow way, its
bytes are kept under the head. Cutting a read at `"opaque":` leaves `digits + tail + next head`
between two cuts: one look-up, by `tail + next head`, finds the next answer.

Sound because every part but the digits equals bytes that were decoded before, all tails have one
length, and the head's length words fix the number of digits. Whatever is unusual, the slow way
takes: all of a read or nothing is answered here.
"""

import re
import struct
from collections.abc import Iterable

from signpost_namesrv.routes.changes import Change, MappingChanged, QueuesChanged
from signpost_namesrv.wire.command import Command, encode_frame

from .state import ORDER_NAMESPACE

_CUT = b'"opaque":'
# From 4.9.4 (401) on, all versions get the same answer.
_VERSION = rb"(?:40[1-9]|4[1-9][0-9]|[5-9][0-9][0-9])"
_TAIL = re.compile(rb',"serializeTypeCurrentRPC":"JSON","version":%b\}' % _VERSION)
_MAX_DIGITS = 9  # whatever has so many is a 32-bit integer
_ZERO = ord("0")

MAX_READ = 8 * 1024
MAX_ANSWER = 16 * 1024
"""Larger ones go the slow way, which stops when the peer does not take its answers."""

_word = struct.Struct(">I")


class FastPath:
    """The ready-made answers, by the bytes that ask for them; bounded in number and size."""

    def __init__(self, max_entries: int = 65_536, max_bytes: int = 32 * 1024 * 1024) -> None:
        self._answers: dict[bytes, tuple[int, bytes, bytes]] = {}
        self._tails: set[bytes] = set()
        self._by_topic: dict[str, list[bytes]] = {}
        self._bytes = 0
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self.served = 0
        """How many look-ups were answered here."""

    def answer(self, data: bytes) -> bytes | None:
        """The answers to all requests in one read; None when any of them is not known here."""
        parts = data.split(_CUT)
        answers = self._answers
        count = len(parts)
        try:
            digits, before, after = answers[parts[0]]
            last = parts[-1]
            if count == 2:
                opaque = last[:digits]
                if last[digits:] not in self._tails or not opaque.isdigit() or last[0] == _ZERO:
                    return None
                self.served += 1
                return b"%b%b%b" % (before, opaque, after)
            out: list[bytes] = []
            for part in parts[1:-1]:
                if part[0] == _ZERO:
                    return None
                out += (before, part[:digits], after)
                digits, before, after = answers[part[digits:]]
        except (KeyError, IndexError):
            return None
        if last[digits:] not in self._tails or last[0] == _ZERO:
            return None
        out += (before, last[:digits], after)
        if not b"".join(out[1::3]).isdigit():
            return None
        self.served += count - 1
        return b"".join(out)

    def learn(self, frame: bytes, request: Command, reply: Command) -> None:
        """Keep the reply to a look-up; `frame` is the request as it came, less its length word."""
        topic = request.field("topic")
        head, cut, rest = frame.partition(_CUT)
        digits = b"%d" % request.opaque
        tail = rest[len(digits) :]
        if (
            topic is None
            or request.body
            or not cut
            or not digits.isdigit()
            or len(digits) > _MAX_DIGITS
            or not rest.startswith(digits)
            or not _TAIL.fullmatch(tail)
            or len(reply.body) > MAX_ANSWER
        ):
            return
        before, _, after = encode_frame(reply).partition(_CUT)
        entry = (len(digits), before + _CUT, after[len(digits) :])
        head = _word.pack(len(frame)) + head
        keys = (head, tail + head)
        if tail in self._tails and all(key in self._answers for key in keys):
            return
        size = 2 * (len(head) + len(tail)) + len(before) + len(after)
        if len(self._answers) >= self._max_entries or self._bytes + size > self._max_bytes:
            self.clear()
        self._bytes += size
        self._tails.add(tail)
        self._by_topic.setdefault(topic, []).extend(keys)
        for key in keys:
            self._answers[key] = entry

    def clear(self) -> None:
        """Forget all answers."""
        self._answers.clear()
        self._tails.clear()
        self._by_topic.clear()
        self._bytes = 0

    def route_changed(self, change: Change) -> None:
        """Forget what a change to the tables made untrue."""
        if isinstance(change, QueuesChanged | MappingChanged):
            self._forget(self._by_topic.pop(change.topic, ()))
        else:  # a broker's addresses: any topic may be on it
            self.clear()

    def kv_changed(self, namespace: str, key: str) -> None:
        """Forget a topic's answers when its order configuration changes."""
        if namespace == ORDER_NAMESPACE:
            self._forget(self._by_topic.pop(key, ()))

    def _forget(self, keys: Iterable[bytes]) -> None:
        for key in keys:
            self._answers.pop(key, None)
