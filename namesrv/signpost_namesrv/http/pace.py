"""Long work beside the remoting port: short slices, and a small share of a busy loop.

All in processor time of this thread: on a machine that others use too, or in a pod with a CPU
limit, a clock on the wall would count time in which nobody here could work.
"""

import asyncio
import time
from collections.abc import Callable

REST = 40
"""While others are busy, they get this many times as much as the work took."""
_BUSY = 12
"""Others are busy when a turn of theirs takes more than the work divided by this."""


class Pace:
    """Shared by everything long, so that many at once get no more than one."""

    def __init__(self, now: Callable[[], float] = time.thread_time) -> None:
        self._now = now
        self._free_at = 0.0

    def clock(self) -> float:
        """The time, for when a slice begins or ends."""
        return self._now()

    async def rest(self, began: float, ended: float | None = None) -> float:
        """Give the others their turns after work since `began`; when the next slice begins.

        `ended` is for work that waited for something afterwards.
        """
        now = self._now()
        worked = (now if ended is None else ended) - began
        self._free_at = max(self._free_at, now) + worked * REST
        free_at = self._free_at
        while True:
            before = self._now()
            await asyncio.sleep(0)
            now = self._now()
            if now >= free_at:
                break
            if (now - before) * _BUSY <= worked:  # nobody else has anything to do
                self._free_at = min(self._free_at, now)
                break
            await asyncio.sleep(free_at - now)
        return self._now()
