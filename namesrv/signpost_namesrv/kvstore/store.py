"""The store: reads from memory, writes through the file, many changes in one file write."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from signpost_namesrv import logs

from . import codec, durable
from .codec import Table
from .draft import Draft
from .errors import KvStoreError
from .limits import KvLimits

log = logs.get("kvstore")

Listener: TypeAlias = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class _Change:
    apply: Callable[[Draft], None]
    done: asyncio.Future[None]

    def joins(self, draft: Draft) -> bool:
        """Apply the change, or tell its caller why not."""
        try:
            self.apply(draft)
        except KvStoreError as e:
            self.settle(e)
            return False
        return True

    def settle(self, error: KvStoreError | None) -> None:
        if self.done.done():  # the caller was cancelled and no longer listens
            return
        if error:
            self.done.set_exception(error)
        else:
            self.done.set_result(None)


class KvStore:
    """All namespaces of the KV config. Use it from one event loop."""

    def __init__(self, path: Path, table: Table, limits: KvLimits) -> None:
        self._path = path
        self._limits = limits
        self._table = table
        self._weight = codec.weigh(table)
        self._digest = codec.digest(table)
        self._listeners: list[Listener] = []
        self._waiting: list[_Change] = []
        self._writer: asyncio.Task[None] | None = None
        # A failed write may still have reached the disk: then even "no change" is written.
        self._file_in_doubt = False

    @classmethod
    def open(cls, path: Path, limits: KvLimits | None = None) -> KvStore:
        """Read the file; a missing one is an empty table, a broken one is left as it is.

        The stock server writes a `.bak` with the previous contents and never reads it. Here it
        is neither written (the file itself is always whole) nor read behind the operator's back:
        the error points at it.
        """
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            table = {}
        except OSError as e:
            raise KvStoreError(f"cannot read KV config {path}: {e.strerror}") from e
        else:
            table = _parse(path, data)
        limits = limits or KvLimits()
        try:
            limits.check_total(codec.weigh(table))
        except KvStoreError as e:
            raise KvStoreError(f"KV config {path}: {e}") from e
        if leftovers := durable.remove_leftovers(path):
            log.info("removed temporary files of an earlier run", path=str(path), files=leftovers)
        return cls(path, table, limits)

    def get(self, namespace: str, key: str) -> str | None:
        """One value, or None."""
        return self._table.get(namespace, {}).get(key)

    def namespace(self, namespace: str) -> Mapping[str, str] | None:
        """One namespace; empty when its last key was deleted, None when it never had one.

        The mapping never changes afterwards, nor may the caller change it.
        """
        return self._table.get(namespace)

    def snapshot(self) -> Table:
        """Everything, as it is now; it never changes afterwards."""
        return self._table

    def digest(self) -> str:
        """Equal on two servers exactly when their KV contents are."""
        return self._digest

    def describe(self) -> Iterator[dict[str, str | int]]:
        """Fields for the periodic log of the contents, bounded in size."""
        return codec.describe(self._table)

    def add_listener(self, listener: Listener) -> None:
        """Call `listener(namespace, key)` for each entry that changed, before its writer hears."""
        self._listeners.append(listener)

    async def put(self, namespace: str, key: str, value: str | None) -> None:
        """Set a value, durable on return. None: as in the stock server, a key without a value."""
        self._limits.check(namespace, key, value)
        await self._submit(lambda draft: draft.put(namespace, key, value))

    async def delete(self, namespace: str, key: str) -> None:
        """Remove a key, durable on return; one that is not there is fine."""
        await self._submit(lambda draft: draft.delete(namespace, key))

    async def flush(self) -> None:
        """Wait until no write is under way."""
        while self._writer:
            await asyncio.wait([self._writer])

    async def _submit(self, apply: Callable[[Draft], None]) -> None:
        done = asyncio.get_running_loop().create_future()
        self._waiting.append(_Change(apply, done))
        if not self._writer:
            self._writer = asyncio.create_task(self._write_waiting(), name="kvstore writer")
        await done

    async def _write_waiting(self) -> None:
        batch: list[_Change] = []
        try:
            while self._waiting:
                # All that arrived while the last file was written goes into the next one.
                batch, self._waiting = self._waiting, []
                await self._write(batch)
        finally:
            self._writer = None
            for change in (*batch, *self._waiting):  # only when this task was cancelled
                change.done.cancel()

    async def _write(self, batch: list[_Change]) -> None:
        draft = Draft(self._table, self._weight, self._limits)
        applied = [change for change in batch if change.joins(draft)]
        error = None
        if draft.changed or self._file_in_doubt:
            error = await self._save(draft.table)
        if error:
            log.error("KV config not written", reason=str(error))
        else:
            self._table, self._weight = draft.table, draft.weight
            for entry in draft.changed:
                self._tell(*entry)
        for change in applied:
            change.settle(error)

    async def _save(self, table: Table) -> KvStoreError | None:
        try:
            self._digest = await asyncio.to_thread(_replace, self._path, table)
        except OSError as e:
            self._file_in_doubt = True
            return _write_error(self._path, e)
        self._file_in_doubt = False
        return None

    def _tell(self, namespace: str, key: str) -> None:
        for listener in self._listeners:
            # The change is on disk: a listener's fault must not fail its writer.
            if fault := _call(listener, namespace, key):
                log.error("KV listener failed", error=fault, namespace=namespace, key=key)


def _call(listener: Listener, namespace: str, key: str) -> Exception | None:
    try:
        listener(namespace, key)
    except Exception as e:
        return e
    return None


def _replace(path: Path, table: Table) -> str:
    durable.replace(path, codec.render(table))
    return codec.digest(table)


def _parse(path: Path, data: bytes) -> dict[str, dict[str, str]]:
    try:
        return codec.parse(data)
    except KvStoreError as e:
        backup = path.with_name(path.name + ".bak")
        copy = f", or copy {backup} over it if that is right," if backup.exists() else ""
        raise KvStoreError(
            f"KV config {path} is broken: {e}. It was left as it is: repair it{copy} "
            "or move it away to start with an empty table"
        ) from e


def _write_error(path: Path, e: OSError) -> KvStoreError:
    remedy = ""
    if e.errno == errno.EBUSY:
        remedy = "; mount its folder instead of the single file"
    elif e.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        remedy = "; the server must be allowed to create files in its folder"
    error = KvStoreError(f"cannot write KV config {path}: {e.strerror}{remedy}")
    error.__cause__ = e
    return error
