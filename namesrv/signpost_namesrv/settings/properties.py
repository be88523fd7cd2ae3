"""The syntax of Java's .properties files. Knows no settings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BLANK = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_KEY = re.compile(r"(?:[^\\=: \t\f]|\\.)*", re.DOTALL)
_SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|u|.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and its value, and the line on which they start."""

    line: int
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that no Java program could read either."""

    line: int
    text: str


def decode(data: bytes) -> str:
    """Text of a file: UTF-8, or what Java took it for before that."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def parse(text: str) -> Iterator[Entry | Malformed]:
    """The entries in the order of the file; a key may come again."""
    for number, line in _logical_lines(text):
        key = _KEY.match(line)
        separator = _SEPARATOR.match(line, key.end() if key else 0)
        start = separator.end() if separator else len(line)
        try:
            yield Entry(number, _unescape(key[0] if key else ""), _unescape(line[start:]))
        except ValueError:
            yield Malformed(number, line)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    start, begun = 0, ""
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        line = raw.lstrip(_BLANK)
        if not begun:
            if not line or line[0] in "#!":
                continue
            start = number
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            begun += line[:-1]
            continue
        yield start, begun + line
        begun = ""
    if begun:
        yield start, begun


def _unescape(text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        escape = match[1]
        if escape == "u":
            raise ValueError("\\u needs four hexadecimal digits")
        if escape[0] == "u":
            return chr(int(escape[1:], 16))
        return _ESCAPES.get(escape, escape)

    plain = _ESCAPE.sub(replace, text)
    # Java writes characters beyond the first 65,536 as two escapes.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
