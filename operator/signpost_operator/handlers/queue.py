"""What has to be reconciled: each resource once, however often it is asked for, never twice at
a time, and after a failure later and later."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)

FIRST_BACKOFF = 0.5
LONGEST_BACKOFF = 60.0


class WorkQueue(Generic[Key]):
    """`work` returns in how many seconds it wants to be called again, or None."""

    def __init__(self, work: Callable[[Key], Awaitable[float | None]], workers: int) -> None:
        self._work = work
        self._workers = workers
        self._ready: asyncio.Queue[Key] = asyncio.Queue()
        self._queued: set[Key] = set()
        self._running: set[Key] = set()
        self._again: set[Key] = set()
        self._timers: dict[Key, asyncio.TimerHandle] = {}
        self._failures: dict[Key, int] = {}

    def add(self, key: Key, after: float = 0.0) -> None:
        """Ask for a key to be worked on, now or later; the earlier of two times counts."""
        if after <= 0:
            self._cancel_timer(key)
            self._put(key)
            return
        due = asyncio.get_running_loop().time() + after
        timer = self._timers.get(key)
        if timer is not None and timer.when() <= due:
            return
        self._cancel_timer(key)
        self._timers[key] = asyncio.get_running_loop().call_at(due, self._ring, key)

    def forget(self, key: Key) -> None:
        """Nothing will be asked of this key for now: it is gone."""
        self._cancel_timer(key)
        self._failures.pop(key, None)

    def idle(self) -> bool:
        """Whether nothing waits and nothing is being worked on; what is due later counts not."""
        return not self._queued and not self._running

    def __len__(self) -> int:
        return len(self._queued)

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._workers):
                group.create_task(self._worker())

    async def _worker(self) -> None:
        while True:
            key = await self._ready.get()
            self._queued.discard(key)
            self._running.add(key)
            try:
                after = await self._work(key)
            except Exception:  # whatever it was, `work` has told it
                after = self._backoff(key)
            else:
                self._failures.pop(key, None)
            finally:
                self._running.discard(key)
            if key in self._again:
                self._again.discard(key)
                self._put(key)
            elif after is not None:
                self.add(key, max(after, 0.01))

    def _put(self, key: Key) -> None:
        if key in self._running:
            self._again.add(key)
        elif key not in self._queued:
            self._queued.add(key)
            self._ready.put_nowait(key)

    def _ring(self, key: Key) -> None:
        self._timers.pop(key, None)
        self._put(key)

    def _cancel_timer(self, key: Key) -> None:
        with contextlib.suppress(KeyError):
            self._timers.pop(key).cancel()

    def _backoff(self, key: Key) -> float:
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        longest: float = min(FIRST_BACKOFF * 2 ** min(failures, 20), LONGEST_BACKOFF)
        return longest * random.uniform(0.8, 1.2)  # noqa: S311
