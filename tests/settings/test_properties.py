"""The syntax of .properties files, checked against what Java's own reader gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signpost_namesrv.settings import SettingsError, parse_properties
from signpost_namesrv.settings.properties import Entry, Malformed, decode, parse


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("", []),
        ("a=1", [(1, "a", "1")]),
        ("a = 1", [(1, "a", "1")]),
        ("a:1\nb 2\nc\t3\n", [(1, "a", "1"), (2, "b", "2"), (3, "c", "3")]),
        ("a  =  = 1", [(1, "a", "= 1")]),
        ("  # no\n\t! no\n\n  a=1", [(4, "a", "1")]),
        ("a=1 # part of the value", [(1, "a", "1 # part of the value")]),
        ("a=1  ", [(1, "a", "1  ")]),
        ("a=1\\\n   2\\\r\n\t3\nb=4", [(1, "a", "123"), (4, "b", "4")]),
        ("a=1\\\n# goes on", [(1, "a", "1# goes on")]),
        ("# no \\\na=1", [(2, "a", "1")]),
        ("a=c:\\\\\nb=1", [(1, "a", "c:\\"), (2, "b", "1")]),
        ("a\\ b\\=c\\:d=1", [(1, "a b=c:d", "1")]),
        ("a=\\t\\n\\r\\f\\q", [(1, "a", "\t\n\r\fq")]),
        ("a=\\u4e2d\\u6587", [(1, "a", "中文")]),
        ("a=\\ud83d\\ude00", [(1, "a", "\N{GRINNING FACE}")]),
        ("a", [(1, "a", "")]),
        ("=1", [(1, "", "1")]),
        ("a=1\rb=2\r\nc=3", [(1, "a", "1"), (2, "b", "2"), (3, "c", "3")]),
        ("a=1\\", [(1, "a", "1")]),
        ("\\", []),
    ],
)
def test_entries(text: str, entries: list[tuple[int, str, str]]) -> None:
    assert list(parse(text)) == [Entry(*entry) for entry in entries]


def test_a_malformed_escape_spares_the_other_lines() -> None:
    assert list(parse("a=1\nb=\\u12\nc=3")) == [
        Entry(1, "a", "1"),
        Malformed(2, "b=\\u12"),
        Entry(3, "c", "3"),
    ]


@pytest.mark.parametrize(
    ("data", "mapping"),
    [
        (b"a=1\nb=2\na=3", {"a": "3", "b": "2"}),
        ("a=ü".encode(), {"a": "ü"}),
        ("a=ü".encode("latin-1"), {"a": "ü"}),
        ("\ufeffa=1".encode(), {"a": "1"}),
    ],
)
def test_bytes(data: bytes, mapping: dict[str, str]) -> None:
    assert parse_properties(decode(data)) == mapping


def test_malformed_text() -> None:
    with pytest.raises(SettingsError, match=r"update:2: b: a \\u without"):
        parse_properties("a=1\nb=\\uzzzz")


def _escaped(text: str) -> str:
    units = text.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


@given(st.dictionaries(st.text(min_size=1), st.text()))
def test_whatever_is_escaped_comes_back(entries: dict[str, str]) -> None:
    text = "\n".join(f"{_escaped(key)}={_escaped(value)}" for key, value in entries.items())
    assert parse_properties(text) == entries
