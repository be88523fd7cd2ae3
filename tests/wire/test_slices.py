"""A large topic table is decoded in slices, and nobody can tell from the result."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signpost_namesrv.wire import registration
from signpost_namesrv.wire.errors import BodyError
from signpost_namesrv.wire.registration import RegistrationBody, decode_registration
from tests.support.remoting import plain_body, topic_json

names = st.text(st.sampled_from('{},:"\\ab0é%'), max_size=10) | st.sampled_from(
    ['},"', '{},"', '"},"', '\\"},"', "},", '":{},"', '}},"x":{"']
)
attributes: st.SearchStrategy[Any] = st.recursive(
    st.text(st.sampled_from('{},:"\\a'), max_size=6) | st.integers(0, 3) | st.none(),
    lambda inner: st.dictionaries(names, inner, max_size=3) | st.lists(inner, max_size=3),
    max_leaves=6,
)
tables = st.dictionaries(
    names,
    st.builds(
        lambda perm, extra: topic_json("") | {"attributes": extra, "perm": perm},
        st.integers(0, 7),
        attributes,
    ),
    max_size=8,
)


def decode(body: bytes) -> tuple[RegistrationBody, int]:
    work, turns = decode_registration(body, compressed=False, version=479), 0
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value, turns
        turns += 1


@given(tables, st.integers(1, 400))
def test_slicing_changes_nothing(table: dict[str, Any], size: int) -> None:
    body = plain_body(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registration, "SLICE_BYTES", 1 << 30)
        whole, _ = decode(body)
        patch.setattr(registration, "SLICE_BYTES", size)
        sliced, _ = decode(body)
    assert sliced == whole
    assert {name: topic.perm for name, topic in whole.topics} == {
        name: topic["perm"] for name, topic in table.items()
    }


@given(tables, st.integers(1, 400), st.data())
def test_damage_is_found_in_any_slice(
    table: dict[str, Any], size: int, data: st.DataObject
) -> None:
    """A table with one bad entry is refused whole, wherever the cuts fall."""
    bad = topic_json("bad") | {"perm": "six"}
    place = data.draw(st.integers(0, len(table)))
    items = list(table.items())
    body = plain_body(dict([*items[:place], ("bad one", bad), *items[place:]]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registration, "SLICE_BYTES", size)
        with pytest.raises(BodyError):
            decode(body)


def test_ten_thousand_topics_are_many_turns() -> None:
    table = {f"topic-{n}": topic_json(f"topic-{n}") for n in range(10_000)}
    body, turns = decode(plain_body(table))
    assert [name for name, _ in body.topics] == list(table)
    assert turns >= 20


def test_one_enormous_entry_is_no_obstacle() -> None:
    large = topic_json("large") | {"attributes": {"x" * 200_000: "},"}}
    table = {"a": topic_json("a"), "large": large, "b": topic_json("b")}
    body, _ = decode(plain_body(table))
    assert [name for name, _ in body.topics] == ["a", "large", "b"]
