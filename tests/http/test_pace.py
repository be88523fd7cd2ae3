"""Long work gives way to a busy loop, and only to a busy one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from signpost_namesrv.http.pace import REST, Pace

WORK = 0.0005


class Processor:
    """Processor time that passes only when somebody works."""

    def __init__(self) -> None:
        self.used = 0.0
        self.turns = 0

    def __call__(self) -> float:
        return self.used

    @asynccontextmanager
    async def busy(self, turn: float) -> AsyncIterator[None]:
        """Others who work for so long in every turn of the loop."""
        task = asyncio.create_task(self._work(turn))
        await asyncio.sleep(0)
        yield
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def _work(self, turn: float) -> None:
        while True:
            self.used += turn
            self.turns += 1
            await asyncio.sleep(0)


async def test_an_idle_loop_is_used_to_the_full() -> None:
    processor = Processor()
    pace = Pace(processor)
    for _ in range(5):
        began = pace.clock()
        processor.used += WORK
        await pace.rest(began)
    assert processor.used == 5 * WORK


async def test_a_busy_loop_keeps_nearly_all_of_its_time() -> None:
    processor = Processor()
    pace = Pace(processor)
    async with processor.busy(WORK / 4):
        before = processor.used
        for _ in range(5):
            began = pace.clock()
            processor.used += WORK
            await pace.rest(began)
        assert processor.used - before >= 5 * WORK * (1 + REST)


async def test_two_at_once_get_no_more_than_one() -> None:
    processor = Processor()
    pace = Pace(processor)

    async def slices() -> None:
        for _ in range(3):
            began = pace.clock()
            processor.used += WORK
            await pace.rest(began)

    async with processor.busy(WORK / 4):
        before = processor.used
        await asyncio.gather(slices(), slices())
        assert processor.used - before >= 6 * WORK * REST
