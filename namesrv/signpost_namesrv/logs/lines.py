"""An event as one line of text or JSON. Pure; nothing in an event can end its line."""

import json
import math
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

Style = Literal["text", "json"]

_LEVELS = {10: "DEBUG", 20: "INFO", 30: "WARN", 40: "ERROR", 50: "ERROR"}
_BARE = re.compile(r"[\w.,:;/@%+*$<>()\[\]-]+", re.ASCII)
_LONGEST_MESSAGE = 4000
_LONGEST_VALUE = 1000
_LONGEST_STACK = 8000
_MOST_ITEMS = 100


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, at `at` seconds since 1970."""

    at: float
    level: int
    part: str
    message: str
    fields: Mapping[str, object]


def text_line(event: Event) -> str:
    """For people: time, level, part, message, then name=value."""
    fields = "".join(f" {_quoted(name)}={_quoted(value)}" for name, value in _fields(event))
    message = _escaped(event.message[:_LONGEST_MESSAGE])
    return f"{_time(event)} {_level(event):<5} {_escaped(event.part)} {message}{fields}"


def json_line(event: Event) -> str:
    """For collectors: one flat object."""
    line: dict[str, object] = {
        "time": _time(event),
        "level": _level(event),
        "part": event.part,
        "message": event.message[:_LONGEST_MESSAGE],
    }
    # A field must not pass itself off as the time or the message.
    line |= {f"{name}_" if name in line else name: value for name, value in _fields(event)}
    return json.dumps(line)


RENDERERS: dict[Style, Callable[[Event], str]] = {"text": text_line, "json": json_line}


def _time(event: Event) -> str:
    stamp = datetime.fromtimestamp(event.at, UTC).isoformat(timespec="milliseconds")
    return stamp.replace("+00:00", "Z")


def _level(event: Event) -> str:
    return _LEVELS.get(event.level, "INFO")


def _fields(event: Event) -> Iterator[tuple[str, object]]:
    for name, value in event.fields.items():
        match value:
            case None:
                pass
            case bool() | int():
                yield name, value
            case float() if math.isfinite(value):
                yield name, value
            case BaseException():
                yield name, _cut(f"{type(value).__name__}: {value}")
                stack = "".join(traceback.format_exception(value))
                yield "stack", stack[-_LONGEST_STACK:]
            case list() | tuple() | set() | frozenset():
                yield name, [_cut(_text(item)) for item in list(value)[:_MOST_ITEMS]]
            case _:
                yield name, _cut(_text(value))


def _text(value: object) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "..."


def _quoted(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = ",".join(value) if isinstance(value, list) else str(value)
    if _BARE.fullmatch(text):
        return text
    return '"' + _escaped(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def _escaped(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
