"""The work queue: once, never twice at a time, later and later after failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from signpost_operator.handlers import queue as module
from signpost_operator.handlers.queue import WorkQueue


@asynccontextmanager
async def working(
    work: Callable[[str], Awaitable[float | None]], workers: int = 2
) -> AsyncIterator[WorkQueue[str]]:
    queue: WorkQueue[str] = WorkQueue(work, workers)
    task = asyncio.create_task(queue.run())
    try:
        yield queue
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_key_that_is_asked_for_often_is_worked_on_once() -> None:
    seen: list[str] = []
    done = asyncio.Event()

    async def work(key: str) -> None:
        seen.append(key)
        if key == "last":
            done.set()

    async with working(work, workers=1) as queue:
        for _ in range(5):
            queue.add("a")
        queue.add("last")
        await done.wait()
    assert seen == ["a", "last"]


async def test_a_key_is_never_worked_on_twice_at_a_time_and_not_forgotten() -> None:
    running, most, times = 0, 0, 0
    began, gate, again = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work(_: str) -> None:
        nonlocal running, most, times
        running += 1
        times += 1
        most = max(most, running)
        began.set()
        if times == 2:
            again.set()
        else:
            await gate.wait()
        running -= 1

    async with working(work) as queue:
        queue.add("a")
        await began.wait()
        queue.add("a")
        queue.add("a")
        gate.set()
        await again.wait()
    assert (most, times) == (1, 2)


async def test_a_failure_is_tried_again_and_stops_no_worker() -> None:
    tries: dict[str, int] = {}
    done = asyncio.Event()

    async def work(key: str) -> None:
        tries[key] = tries.get(key, 0) + 1
        if key == "bad" and tries[key] < 3:
            raise RuntimeError("not yet")
        if tries.get("bad") == 3:
            done.set()

    saved, module.FIRST_BACKOFF = module.FIRST_BACKOFF, 0.001
    try:
        async with working(work, workers=1) as queue:
            queue.add("bad")
            queue.add("good")
            await asyncio.wait_for(done.wait(), 10)
    finally:
        module.FIRST_BACKOFF = saved
    assert tries == {"bad": 3, "good": 1}


async def test_the_earlier_of_two_times_counts() -> None:
    seen = asyncio.Event()

    async def work(_: str) -> None:
        seen.set()

    async with working(work) as queue:
        queue.add("a", after=3600)
        queue.add("a", after=0.01)
        queue.add("a", after=7200)
        await asyncio.wait_for(seen.wait(), 10)


async def test_work_can_ask_to_be_called_again() -> None:
    times = 0
    done = asyncio.Event()

    async def work(_: str) -> float | None:
        nonlocal times
        times += 1
        if times == 3:
            done.set()
            return None
        return 0.001

    async with working(work) as queue:
        queue.add("a")
        await asyncio.wait_for(done.wait(), 10)
    assert times == 3
