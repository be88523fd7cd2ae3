"""Reading, writing, coalescing and bounds, on real files."""

import asyncio
import json
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from signpost_namesrv.kvstore import KvLimits, KvStore, KvStoreError, durable


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kvConfig.json"


class Gate:
    """Stands before the real file write: counts the writes and holds them while closed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.writes = 0
        self.open = threading.Event()
        self.open.set()
        self.entered = threading.Event()
        self._replace = durable.replace
        monkeypatch.setattr(durable, "replace", self._pass)

    def _pass(self, path: Path, data: bytes) -> None:
        self.writes += 1
        self.entered.set()
        assert self.open.wait(30)
        self._replace(path, data)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    return Gate(monkeypatch)


def on_disk(path: Path) -> object:
    return json.loads(path.read_bytes())["configTable"]


async def test_a_missing_file_is_an_empty_table_and_the_first_write_makes_its_folders(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a" / "b" / "kvConfig.json"
    store = KvStore.open(path)
    assert store.snapshot() == {}
    assert not (tmp_path / "a").exists()
    await store.put("ns", "k", "v")
    assert on_disk(path) == {"ns": {"k": "v"}}
    assert KvStore.open(path).snapshot() == {"ns": {"k": "v"}}


async def test_put_get_delete(path: Path) -> None:
    store = KvStore.open(path)
    await store.put("ns", "k", "v")
    await store.put("ns", "k", "w")
    await store.put("", "", "")
    assert store.get("ns", "k") == "w"
    assert store.get("ns", "other") is None
    assert store.get("other", "k") is None
    assert store.namespace("") == {"": ""}
    assert store.namespace("other") is None
    await store.delete("ns", "k")
    await store.delete("ns", "k")
    await store.delete("other", "k")
    assert store.get("ns", "k") is None
    assert store.namespace("ns") == {}, "a namespace outlives its last key, as in the stock server"
    assert store.namespace("other") is None
    assert on_disk(path) == {"ns": {}, "": {"": ""}}


async def test_a_put_without_a_value_is_the_stock_servers(path: Path) -> None:
    store = KvStore.open(path)
    await store.put("ns", "k", None)
    assert store.namespace("ns") == {}
    await store.put("ns", "k", "v")
    await store.put("ns", "k", None)
    assert store.get("ns", "k") is None
    assert on_disk(path) == {"ns": {}}


async def test_snapshots_do_not_change_under_their_readers(path: Path) -> None:
    store = KvStore.open(path)
    await store.put("ns", "k", "1")
    snapshot, namespace = store.snapshot(), store.namespace("ns")
    await asyncio.gather(store.put("ns", "k", "2"), store.put("ns2", "k", "2"))
    assert snapshot == {"ns": {"k": "1"}}
    assert namespace == {"k": "1"}


@pytest.mark.parametrize("data", [b"", b"{", b'{"configTable":{"a":{"b":"c"}'])
def test_a_broken_file_stops_the_start_and_is_left_alone(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with pytest.raises(KvStoreError) as e:
        KvStore.open(path)
    assert str(path) in str(e.value)
    assert "repair it or move it away" in str(e.value)
    assert path.read_bytes() == data
    path.with_name("kvConfig.json.bak").write_bytes(b'{"configTable":{}}')
    with pytest.raises(KvStoreError, match=r"kvConfig\.json\.bak"):
        KvStore.open(path)


def test_a_file_that_cannot_be_read_stops_the_start(path: Path) -> None:
    path.mkdir()
    with pytest.raises(KvStoreError, match="Is a directory"):
        KvStore.open(path)


async def test_memory_changes_only_when_the_file_is_durable(path: Path, gate: Gate) -> None:
    store = KvStore.open(path)
    gate.open.clear()
    put = asyncio.create_task(store.put("ns", "k", "v"))
    await asyncio.to_thread(gate.entered.wait, 30)
    assert store.get("ns", "k") is None
    assert not put.done()
    gate.open.set()
    await put
    assert store.get("ns", "k") == "v"


async def test_writes_that_wait_share_one_file_write(path: Path, gate: Gate) -> None:
    store = KvStore.open(path)
    gate.open.clear()
    first = asyncio.create_task(store.put("ns", "first", "1"))
    await asyncio.to_thread(gate.entered.wait, 30)
    more = [asyncio.create_task(store.put("ns", f"k{i}", str(i))) for i in range(50)]
    more.append(asyncio.create_task(store.delete("ns", "k0")))
    await asyncio.sleep(0)
    gate.open.set()
    await asyncio.gather(first, *more)
    assert gate.writes == 2
    expected = {"first": "1"} | {f"k{i}": str(i) for i in range(1, 50)}
    assert store.namespace("ns") == expected
    assert on_disk(path) == {"ns": expected}


async def test_what_changes_nothing_writes_nothing(path: Path, gate: Gate) -> None:
    store = KvStore.open(path)
    await store.put("ns", "k", "v")
    await store.put("ns", "k", "v")
    await store.delete("ns", "none")
    assert gate.writes == 1


async def test_a_cancelled_caller_does_not_disturb_the_others(path: Path, gate: Gate) -> None:
    store = KvStore.open(path)
    gate.open.clear()
    impatient = asyncio.create_task(store.put("ns", "a", "1"))
    await asyncio.to_thread(gate.entered.wait, 30)
    patient = asyncio.create_task(store.put("ns", "b", "2"))
    impatient.cancel()
    await asyncio.wait([impatient])
    gate.open.set()
    await patient
    assert store.namespace("ns") == {"a": "1", "b": "2"}


async def test_flush_waits_for_what_is_under_way(path: Path, gate: Gate) -> None:
    store = KvStore.open(path)
    await store.flush()
    gate.open.clear()
    put = asyncio.create_task(store.put("ns", "k", "v"))
    await asyncio.to_thread(gate.entered.wait, 30)
    flush = asyncio.create_task(store.flush())
    await asyncio.sleep(0)
    assert not flush.done()
    gate.open.set()
    await flush
    assert on_disk(path) == {"ns": {"k": "v"}}
    await put


async def test_listeners_hear_each_change_once_and_before_the_writer(path: Path) -> None:
    store = KvStore.open(path)
    heard: list[tuple[str, str]] = []
    store.add_listener(lambda namespace, key: heard.append((namespace, key)))
    await store.put("ns", "k", "v")
    assert heard == [("ns", "k")]
    await store.put("ns", "k", "v")
    await store.delete("ns", "none")
    assert heard == [("ns", "k")]
    await store.delete("ns", "k")
    assert heard == [("ns", "k")] * 2


async def test_a_faulty_listener_fails_no_write(path: Path) -> None:
    store = KvStore.open(path)
    heard: list[str] = []

    def faulty(_namespace: str, _key: str) -> None:
        raise ZeroDivisionError

    store.add_listener(faulty)
    store.add_listener(lambda _namespace, key: heard.append(key))
    await store.put("ns", "k", "v")
    assert heard == ["k"]
    assert store.get("ns", "k") == "v"


@pytest.mark.parametrize(
    ("namespace", "key", "value", "message"),
    [
        ("n" * 11, "k", "v", "namespace has 11 bytes, at most 10"),
        ("n", "é" * 6, "v", "key has 12 bytes, at most 10"),
        ("n", "k", "v" * 21, "value has 21 bytes, at most 20"),
        ("n", "k", "\ud800", "value is not valid Unicode"),
    ],
)
async def test_bounds_of_one_entry(
    path: Path, namespace: str, key: str, value: str, message: str
) -> None:
    store = KvStore.open(path, KvLimits(name=10, value=20, total=1000))
    with pytest.raises(KvStoreError, match=message):
        await store.put(namespace, key, value)
    assert store.snapshot() == KvStore.open(path).snapshot() == {}


async def test_the_whole_table_is_bounded_and_shrinking_always_works(path: Path) -> None:
    store = KvStore.open(path, KvLimits(total=30))
    await store.put("ns", "a", "x" * 10)
    await store.put("ns", "b", "x" * 10)
    good, bad = store.put("ns", "a", "x" * 15), store.put("ns", "c", "x" * 10)
    results = await asyncio.gather(good, bad, return_exceptions=True)
    assert results[0] is None
    assert isinstance(results[1], KvStoreError)
    assert "at most 30 are allowed" in str(results[1])
    with pytest.raises(KvStoreError, match="at most 20 are allowed"):
        KvStore.open(path, KvLimits(total=20))
    await store.delete("ns", "a")
    await store.put("ns", "c", "x" * 10)


async def test_digest_follows_the_contents(path: Path, tmp_path: Path) -> None:
    store, other = KvStore.open(path), KvStore.open(tmp_path / "other.json")
    assert store.digest() == other.digest()
    await store.put("a", "x", "1")
    await store.put("b", "y", "2")
    assert store.digest() != other.digest()
    await other.put("b", "y", "2")
    await other.put("a", "x", "1")
    assert store.digest() == other.digest() == KvStore.open(path).digest()
    assert next(store.describe()) == {"namespaces": 2, "keys": 2}


async def test_mode_is_kept_and_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "volume" / "real.json"
    real.parent.mkdir()
    real.write_text('{"configTable":{}}')
    real.chmod(0o640)
    link = tmp_path / "kvConfig.json"
    link.symlink_to(real)
    before = real.stat().st_ino
    await KvStore.open(link).put("ns", "k", "v")
    assert link.is_symlink()
    assert on_disk(real) == {"ns": {"k": "v"}}
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert real.stat().st_ino != before, "replaced, not written in place"
    assert [p.name for p in real.parent.iterdir()] == ["real.json"]


def test_leftovers_of_a_killed_run_go_and_nothing_else(path: Path) -> None:
    for name in (".kvConfig.json.0123ab.tmp", ".other.json.0123ab.tmp", "kvConfig.json.bak"):
        path.with_name(name).write_text("half")
    KvStore.open(path)
    assert sorted(p.name for p in path.parent.iterdir()) == [
        ".other.json.0123ab.tmp",
        "kvConfig.json.bak",
    ]


CHANGES = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from(["1", "22", None])),
    max_size=20,
)


@settings(deadline=None, max_examples=30)
@given(CHANGES, st.booleans())
def test_any_sequence_ends_as_a_dict_would(
    tmp_path_factory: pytest.TempPathFactory,
    changes: list[tuple[str, str, str | None]],
    at_once: bool,
) -> None:
    path = tmp_path_factory.mktemp("kv") / "kvConfig.json"
    model: dict[str, dict[str, str]] = {}
    for namespace, key, value in changes:
        if value is not None:
            model.setdefault(namespace, {})[key] = value
        else:
            model.get(namespace, {}).pop(key, None)

    async def run() -> None:
        store = KvStore.open(path)
        calls = [store.put(n, k, v) if v is not None else store.delete(n, k) for n, k, v in changes]
        if at_once:
            await asyncio.gather(*calls)
        else:
            for call in calls:
                await call
        reopened = KvStore.open(path)
        assert store.snapshot() == reopened.snapshot() == model
        assert store.digest() == reopened.digest()
        assert store._weight == reopened._weight

    asyncio.run(run())
