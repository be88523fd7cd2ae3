"""Disks that refuse, and processes that die: the old or the new state, never a third."""

import errno
import json
import os
import random
import resource
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from signpost_namesrv.kvstore import KvStore, KvStoreError, durable

KILLS = 30

# Writes 1, 2, 3, ... with a ballast that makes the file larger than one page, and says each
# number once it is durable.
WRITER = """
import asyncio, sys
from pathlib import Path
from signpost_namesrv.kvstore import KvStore

async def main():
    store = KvStore.open(Path(sys.argv[1]))
    n = int(store.get("ns", "n") or 0)
    await store.put("ns", "ballast", "x" * 200_000)
    while True:
        n += 1
        await store.put("ns", "n", str(n))
        print(n, flush=True)

asyncio.run(main())
"""


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """Let every write beyond `size` bytes fail, as a full disk would (EFBIG for ENOSPC)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def no_permission(folder: Path) -> Iterator[None]:
    """Take the right to write in `folder` away; root becomes somebody else for a while."""
    mode = folder.stat().st_mode
    folder.chmod(0o555)
    uid = os.geteuid()
    if uid == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        if uid == 0:
            os.seteuid(0)
        folder.chmod(mode)


async def test_a_full_disk_leaves_file_and_memory_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "kvConfig.json"
    store = KvStore.open(path)
    await store.put("ns", "k", "old")
    before = path.read_bytes()
    with file_size_limit(10_000):
        with pytest.raises(KvStoreError) as e:
            await store.put("ns", "k", "x" * 20_000)
        assert str(path) in str(e.value)
        assert os.strerror(errno.EFBIG) in str(e.value)
        assert path.read_bytes() == before
        assert store.get("ns", "k") == "old"
        assert files_in(tmp_path) == [path], "no temporary file stays behind"
        await store.put("ns", "small", "fits")
    assert KvStore.open(path).namespace("ns") == {"k": "old", "small": "fits"}


async def test_a_folder_without_permission_is_an_error_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "kvConfig.json"
    store = KvStore.open(path)
    await store.put("ns", "k", "old")
    with no_permission(tmp_path), pytest.raises(KvStoreError) as e:
        await store.put("ns", "k", "new")
    assert os.strerror(errno.EACCES) in str(e.value)
    assert "allowed to create files in its folder" in str(e.value)
    assert store.get("ns", "k") == "old"
    await store.put("ns", "k", "new")
    assert KvStore.open(path).get("ns", "k") == "new"


async def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    store = KvStore.open(tmp_path / "gone" / "kvConfig.json")
    (tmp_path / "gone").write_text("a file in the folder's place")
    with pytest.raises(KvStoreError, match="File exists"):
        await store.put("ns", "k", "v")
    assert store.snapshot() == {}


async def test_after_a_doubtful_write_the_file_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kvConfig.json"
    store = KvStore.open(path)
    await store.put("ns", "k", "old")

    def fails(_folder: Path) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(durable, "_sync_folder", fails)
        with pytest.raises(KvStoreError, match="Input/output error"):
            await store.put("ns", "k", "new")
    # The rename had happened: the file is ahead of the memory until the next write.
    assert KvStore.open(path).get("ns", "k") == "new"
    assert store.get("ns", "k") == "old"
    await store.put("ns", "k", "old")
    assert KvStore.open(path).get("ns", "k") == "old"


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOTSUP])
async def test_a_volume_that_cannot_sync_folders_still_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    fsync = os.fsync

    def picky(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(code, os.strerror(code))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", picky)
    store = KvStore.open(tmp_path / "kvConfig.json")
    await store.put("ns", "k", "v")
    assert store.get("ns", "k") == "v"


async def test_the_order_is_file_sync_then_rename_then_folder_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, rename = os.fsync, Path.rename

    def fsync_seen(fd: int) -> None:
        steps.append("sync folder" if stat.S_ISDIR(os.fstat(fd).st_mode) else "sync file")
        fsync(fd)

    def rename_seen(source: Path, target: Path) -> Path:
        steps.append("rename")
        return rename(source, target)

    monkeypatch.setattr(os, "fsync", fsync_seen)
    monkeypatch.setattr(Path, "rename", rename_seen)
    await KvStore.open(tmp_path / "kvConfig.json").put("ns", "k", "v")
    assert steps == ["sync file", "rename", "sync folder"]


def test_killing_the_writer_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "kvConfig.json"
    last_seen = 0
    for kill in range(KILLS):
        durable_number = _write_and_kill(path, random.Random(kill))
        found = int(KvStore.open(path).get("ns", "n") or 0)
        # What was said to be durable is there; at most the one write in flight is ahead of it.
        assert found in {durable_number, durable_number + 1}
        assert found > last_seen
        assert len(json.loads(path.read_bytes())["configTable"]["ns"]["ballast"]) == 200_000
        last_seen = found
    assert files_in(tmp_path) == [path]


def _write_and_kill(path: Path, rng: random.Random) -> int:
    """Let a process write, kill it somewhere within a write; gives the last durable number."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout
    lines = []
    try:
        lines = [writer.stdout.readline() for _ in range(rng.randint(1, 5))]
        time.sleep(rng.uniform(0, 0.01))  # the random moment is the test's subject
    finally:
        writer.send_signal(signal.SIGKILL)
        lines += writer.stdout.read().splitlines()
        writer.stdout.close()
        writer.wait()
    return int(lines[-1])
