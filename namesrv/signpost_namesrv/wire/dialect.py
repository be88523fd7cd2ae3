"""The two JSON dialects of RocketMQ's Java side.

Its old JSON library leaves integer map keys bare (`{0:"10.0.0.1:10911"}`), which no JSON parser
accepts. Brokers write it, old clients want it back.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from .errors import BodyError

T = TypeVar("T")

NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What the decoder raises on bytes that are no JSON, or nested too deeply."""

MAX_BARE_KEYS = 100_000
"""Static topics have one per queue; quoting more would hold up everybody else."""

_BARE_KEY = re.compile(rb"[{,]\s*(-?\d+)\s*:")
_ESCAPE = re.compile(rb"\\.", re.DOTALL)


def decode(decoder: msgspec.json.Decoder[T], data: bytes, what: str) -> T:
    """Decode standard JSON, or the dialect when that fails; BodyError names `what` was sent."""
    try:
        return decoder.decode(data)
    except NOT_JSON as strict:
        quoted = quote_bare_keys(data)
        if quoted == data:
            raise BodyError(f"{what}: {strict}") from strict
    try:
        return decoder.decode(quoted)
    except NOT_JSON as e:
        raise BodyError(f"{what}: {e}") from e


def quote_bare_keys(data: bytes) -> bytes:
    """Put quotes around integer keys, and leave alone what merely looks so inside a string.

    BodyError when there are too many of them.
    """
    pieces: list[bytes] = []
    done = 0
    in_string = False
    for match in _BARE_KEY.finditer(data):
        if len(pieces) >= 2 * MAX_BARE_KEYS:
            raise BodyError(f"more than {MAX_BARE_KEYS} integer keys without quotes")
        start, end = match.span(1)
        gap = data[done:start]
        plain = _ESCAPE.sub(b"", gap) if b"\\" in gap else gap
        in_string ^= plain.count(b'"') % 2 == 1
        pieces += (gap, data[start:end] if in_string else b'"%b"' % data[start:end])
        done = end
    return b"".join((*pieces, data[done:])) if pieces else data


def encode(value: Any) -> bytes:
    """Encode in the dialect: keys sorted, integer keys bare, None left out."""
    return _encode(msgspec.to_builtins(value, str_keys=False)).encode()


def _encode(value: Any) -> str:
    if isinstance(value, Mapping):
        items = ((k, v) for k, v in sorted(value.items()) if v is not None)
        return "{" + ",".join(f"{_key(k)}:{_encode(v)}" for k, v in items) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ",".join(map(_encode, value)) + "]"
    return msgspec.json.encode(value).decode()


def _key(key: object) -> str:
    return str(key) if isinstance(key, int) else msgspec.json.encode(key).decode()
