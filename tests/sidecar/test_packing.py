"""Registration bodies written anew, read back by the name server's own reader."""

from __future__ import annotations

import json
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signpost_namesrv.sidecar import packing
from signpost_namesrv.sidecar.packing import Table, pack, unpack
from signpost_namesrv.wire.bodies import DataVersion, MappingInfo
from signpost_namesrv.wire.command import Command
from signpost_namesrv.wire.registration import TopicConfig

HEAD = Command(code=103, opaque=1, fields={"brokerName": "a", "bodyCrc32": "7"}, version=479)

names = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1)
small = st.integers(0, 65_535)
topics = st.dictionaries(
    names, st.builds(TopicConfig, st.none(), small, small, st.integers(0, 7)), max_size=8
)
mappings = st.dictionaries(
    names, st.builds(MappingInfo, names, st.dictionaries(small, small, max_size=3)), max_size=3
)


def _named(table: Table) -> Table:
    """As it comes back: topics and mappings carry their names."""
    return Table(
        table.version,
        {n: TopicConfig(n, *list(_numbers(t))) for n, t in table.topics.items()},
        {
            n: MappingInfo(m.bname, m.curr_id_map, m.dirty, m.epoch, m.scope, n)
            for n, m in table.mappings.items()
        },
        table.filter_servers,
    )


def _numbers(t: TopicConfig) -> tuple[int, int, int, int]:
    return t.read_queue_nums, t.write_queue_nums, t.perm, t.topic_sys_flag


@given(topics, mappings, st.lists(names, max_size=3), st.integers(0, 2**62))
def test_what_is_packed_is_read_back(
    some: dict[str, TopicConfig], static: dict[str, MappingInfo], servers: list[str], counter: int
) -> None:
    table = _named(Table(DataVersion(counter, 1, 2), some, static, servers))
    packed = pack(HEAD, table)
    assert packed.field("compressed") == "true"
    assert packed.field("bodyCrc32") == str(zlib.crc32(packed.body) & 0x7FFFFFFF)
    assert unpack(packed) == table


@given(topics, st.randoms(use_true_random=False))
def test_the_same_table_gives_the_same_bytes_in_any_order(
    some: dict[str, TopicConfig], shuffler: object
) -> None:
    items = list(some.items())
    shuffler.shuffle(items)  # type: ignore[attr-defined]
    assert pack(HEAD, Table(topics=some)) == pack(HEAD, Table(topics=dict(items)))


def test_the_compressed_text_has_five_words() -> None:
    body = zlib.decompress(pack(HEAD, Table(topics={"T": TopicConfig("T", 3, 4, 6)})).body)
    (length,) = struct.unpack_from(">i", body)
    assert body[8 + length + 4 :].startswith(b"T 3 4 6 SINGLE_TAG")


def test_a_unit_flag_keeps_the_table_plain() -> None:
    table = Table(topics={"T": TopicConfig("T", 4, 4, 6, 1), "U": TopicConfig("U", 4, 4, 6)})
    packed = pack(HEAD, table)
    assert packed.field("compressed") == "false"
    assert unpack(packed).topics["T"].topic_sys_flag == 1
    assert json.loads(packed.body)["filterServerList"] == []


def test_a_unit_flag_is_given_up_when_the_table_would_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(packing, "FITS_A_FRAME", 100)
    packed = pack(HEAD, Table(topics={"T": TopicConfig("T", 4, 4, 6, 1)}))
    assert packed.field("compressed") == "true"


def test_old_versions_get_what_they_can_read() -> None:
    table = Table(topics={"T": TopicConfig("T", 4, 4, 6)})
    for version, form in ((36, "false"), (400, "true")):
        head = Command(code=103, opaque=1, fields={}, version=version)
        assert pack(head, table).field("compressed") == form
        assert unpack(pack(head, table)).topics == table.topics


def test_without_write_changes_the_permission_only() -> None:
    table = Table(topics={"T": TopicConfig("T", 4, 4, 6), "U": TopicConfig("U", 1, 1, 5)})
    assert {n: t.perm for n, t in table.without_write().topics.items()} == {"T": 4, "U": 5}
