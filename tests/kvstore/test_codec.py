"""The file format, as tables of bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signpost_namesrv.kvstore import KvStoreError, codec

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
TABLES = st.dictionaries(TEXT, st.dictionaries(TEXT, TEXT))

# Written by the stock server 5.3.3 after the same requests.
STOCK = (
    '{"configTable":{"":{"":"3"},"1":{},"ns":{"k2":"q\\"\\\\/\\n\\t\\u0001\\u2028é中😀 <&>\\u007F",'
    '"k":"v"},"ns2":{"x":""}}}'
)


def test_a_file_of_the_stock_server_is_read() -> None:
    assert codec.parse(STOCK.encode()) == {
        "": {"": "3"},
        "1": {},
        "ns": {"k2": 'q"\\/\n\t\x01\u2028é中😀 <&>\x7f', "k": "v"},
        "ns2": {"x": ""},
    }


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ('{"configTable":{}}', {}),
        ('\n{ "configTable" : { "a" : { "b" : "c" } } }\n', {"a": {"b": "c"}}),
        ('{"configTable":{"a":{"n":3,"f":1.50,"t":true,"f2":false,"gone":null}}}',
         {"a": {"n": "3", "f": "1.50", "t": "true", "f2": "false"}}),
        ('{"configTable":{"a":{"k":"first","k":"last"}}}', {"a": {"k": "last"}}),
    ],
)  # fmt: skip
def test_what_an_editor_may_have_left_is_read_as_the_stock_server_does(
    text: str, table: object
) -> None:
    assert codec.parse(text.encode()) == table


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "it is empty"),
        (b" \n", "it is empty"),
        (b'{"configTable":{"a":{"b":"c"', "line 1 column 29"),
        (b'{\n"configTable":{"a" {}}}', "line 2 column 20"),
        (b'{"configTable":{"a":{"b":"\xff"}}}', "byte 26: not UTF-8"),
        (b'{"configTable":{}} x', "line 1 column 20: Extra data"),
        (b"[]", "the document must be a JSON object"),
        (b"{}", "configTable must be a JSON object"),
        (b'{"configTable":null}', "configTable must be a JSON object"),
        (b'{"configTable":{"a":"b"}}', "configTable['a'] must be a JSON object"),
        (b'{"configTable":{"a":{"b":[]}}}', "configTable['a']['b'] must be a string"),
        (b'{"configTable":{"a":{"b":NaN}}}', "NaN is not a JSON value"),
        (b'{"configTable":{},"more":1}', "'more' is not known here"),
        (b'{"configTable":' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_broken_file_says_what_and_where(data: bytes, message: str) -> None:
    with pytest.raises(KvStoreError) as e:
        codec.parse(data)
    assert message in str(e.value)


@given(TABLES)
def test_what_is_written_is_read_back(table: dict[str, dict[str, str]]) -> None:
    assert codec.parse(codec.render(table)) == table


@given(TABLES, TABLES)
def test_digests_are_equal_exactly_when_the_tables_are(
    a: dict[str, dict[str, str]], b: dict[str, dict[str, str]]
) -> None:
    reversed_a = {ns: dict(reversed(e.items())) for ns, e in reversed(a.items())}
    assert codec.digest(a) == codec.digest(reversed_a)
    assert (codec.digest(a) == codec.digest(b)) == (a == b)


def test_the_digest_tells_an_empty_namespace_from_none() -> None:
    assert codec.digest({"a": {}}) != codec.digest({})


def test_the_description_is_bounded() -> None:
    table = {"ns": {f"k{i:04}": "v" * 10_000 for i in range(500)}, "empty": {}}
    lines = list(codec.describe(table))
    assert lines[0] == {"namespaces": 2, "keys": 500}
    assert lines[1]["key"] == "k0000"
    assert lines[-1] == {"left_out": 500 - codec.SHOWN_ENTRIES}
    assert len(lines) == codec.SHOWN_ENTRIES + 2
    assert sum(len(str(line)) for line in lines) < 100_000


def test_the_description_of_a_small_table_is_whole() -> None:
    assert list(codec.describe({"b": {"y": "2"}, "a": {"x": "1"}})) == [
        {"namespaces": 2, "keys": 2},
        {"namespace": "a", "key": "x", "value": "1"},
        {"namespace": "b", "key": "y", "value": "2"},
    ]
