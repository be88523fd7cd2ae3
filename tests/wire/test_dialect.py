"""The two JSON dialects: bare integer keys in, and out."""

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signpost_namesrv.wire import dialect
from signpost_namesrv.wire.errors import BodyError

anything = msgspec.json.Decoder(Any)


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (b"{0:1}", b'{"0":1}'),
        (b"{-12:1}", b'{"-12":1}'),
        (b'{ 0 : "a" , 1\n:"b"}', b'{ "0" : "a" , "1"\n:"b"}'),
        (b'{"a":{0:{1:{2:[]}}}}', b'{"a":{"0":{"1":{"2":[]}}}}'),
        (b'[{0:1},{1:2},3,"4"]', b'[{"0":1},{"1":2},3,"4"]'),
        (b'{"0":1}', b'{"0":1}'),
        (b'{"a":"{0:1}"}', b'{"a":"{0:1}"}'),
        (b'{"{0:":"x,1:","y":{2:3}}', b'{"{0:":"x,1:","y":{"2":3}}'),
        (rb'{"a\"":{0:1}}', rb'{"a\"":{"0":1}}'),
        (rb'{"a\\":{0:1}}', rb'{"a\\":{"0":1}}'),
        (rb'{"a\\\"{0:1,2:":{0:1}}', rb'{"a\\\"{0:1,2:":{"0":1}}'),
        (rb'{"\\\\":"\"",0:"\\{1:"}', rb'{"\\\\":"\"","0":"\\{1:"}'),
        ('{"é😀{0:":{0:"é,1:"}}'.encode(), '{"é😀{0:":{"0":"é,1:"}}'.encode()),
        (b"[1,2,3]", b"[1,2,3]"),
        (b"{1.5:1}", b"{1.5:1}"),
        (b"", b""),
    ],
)
def test_bare_keys_get_quotes_outside_strings_only(given_: bytes, expected: bytes) -> None:
    assert dialect.quote_bare_keys(given_) == expected


awkward = st.text(st.sampled_from('{},:0123456789-"\\ \n\té'), max_size=12)
values: st.SearchStrategy[Any] = st.recursive(
    st.integers(-9, 9) | st.booleans() | awkward,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(awkward, inner, max_size=4)
        | st.dictionaries(st.integers(-99, 99), inner, max_size=4)
    ),
    max_leaves=12,
)


def standard(value: Any) -> Any:
    """What any JSON library makes of it: all keys are strings."""
    return json.loads(json.dumps(value))


@given(values)
def test_what_is_written_is_read_again(value: Any) -> None:
    written = dialect.encode(value)
    assert dialect.decode(anything, written, "value") == standard(value)


@given(values)
def test_quoting_makes_standard_json_and_leaves_it_alone(value: Any) -> None:
    quoted = dialect.quote_bare_keys(dialect.encode(value))
    assert json.loads(quoted) == standard(value)
    assert dialect.quote_bare_keys(quoted) == quoted


def test_written_as_the_old_library_does() -> None:
    value = {"b": {1: "x", 0: None, -1: [None, True]}, "a": "é\n"}
    assert dialect.encode(value) == '{"a":"é\\n","b":{-1:[null,true],1:"x"}}'.encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{0:}",
        b"{0:1",
        b'{"a":\xff}',
        b'{"a":"\xff"}',
        b'{0:"\xff"}',
        b'{"a":"\\ud800"}',
        b"[" * 100_000,
        b"{0:" * 100_000,
    ],
)
def test_what_is_neither_dialect_is_a_body_error(body: bytes) -> None:
    with pytest.raises(BodyError, match=r"^thing: "):
        dialect.decode(anything, body, "thing")


HOSTILE = [
    b"{0",
    b"{0 ",
    b"{ ",
    b",,",
    b",1",
    b"1",
    b" ",
    b"\\",
    b'\\"',
    b'"',
    b'"{0:',
    b"{0:",
    b",-1",
    b"{0:\\\\",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_no_input_is_searched_more_than_a_few_times(unit: bytes) -> None:
    """Quadratic work over so much would not end within the test's time limit."""
    data = b"{" + unit * min(1_000_000 // len(unit), dialect.MAX_BARE_KEYS - 1)
    quoted = dialect.quote_bare_keys(data)
    assert re.sub(rb'"(-?\d+)"', rb"\1", quoted).count(b"0") == data.count(b"0")


def test_too_many_bare_keys_are_refused() -> None:
    with pytest.raises(BodyError, match="100000 integer keys"):
        dialect.quote_bare_keys(b"{" + b"0:1," * (dialect.MAX_BARE_KEYS + 1))
