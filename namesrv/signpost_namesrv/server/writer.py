"""One change to the tables at a time, in the order in which they were asked for.

A long change yields; the loop serves others, and the change goes on in the next turn.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from signpost_namesrv import logs

T = TypeVar("T")
Job = Generator[None, None, T]

log = logs.get("writer")


class Writer:
    """Runs generators, each to its end, before the next begins."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._jobs: deque[tuple[Job[Any], Callable[[Any], None], Callable[[Exception], None]]]
        self._jobs = deque()
        self._idle = asyncio.Event()
        self._idle.set()

    def submit(
        self,
        job: Job[T],
        done: Callable[[T], None],
        failed: Callable[[Exception], None] | None = None,
    ) -> None:
        """Run a job: at once if nothing waits, else in its turn. `done` gets what it returns."""
        self._jobs.append((job, done, failed or _log_failure))
        if len(self._jobs) == 1:
            self._step()

    def run(self, job: Job[T]) -> asyncio.Future[T]:
        """The same, for a caller that awaits the result."""
        future: asyncio.Future[T] = self._loop.create_future()

        def settle(method: Callable[[Any], None]) -> Callable[[Any], None]:
            return lambda value: None if future.done() else method(value)

        self.submit(job, settle(future.set_result), settle(future.set_exception))
        return future

    async def drained(self) -> None:
        """Wait until no job is left."""
        await self._idle.wait()

    def _step(self) -> None:
        """One slice of the first job; short jobs end here without a turn of the loop."""
        job, done, failed = self._jobs[0]
        try:
            next(job)
        except StopIteration as end:
            self._finish(done, end.value)
        except Exception as e:  # a bug must not stop every change to come
            self._finish(failed, e)
        else:
            self._idle.clear()
            self._loop.call_soon(self._step)

    def _finish(self, then: Callable[[Any], None], value: object) -> None:
        """The next job gets a turn of its own, so that a crowd of them cannot stall the loop."""
        try:
            then(value)
        finally:
            self._jobs.popleft()
            if self._jobs:
                self._idle.clear()
                self._loop.call_soon(self._step)
            else:
                self._idle.set()


def _log_failure(error: Exception) -> None:
    log.error("change failed", error=error)
