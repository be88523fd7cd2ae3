"""Long work beside the remoting port: short slices, and a small share of a busy loop.

All in processor time of this thread: on a machine that others use too, or in a pod with a CPU
limit, a clock on the wall would count time in which nobody here could work.
"""

import asyncio
import time

REST = 15
"""While others are busy, they get this many times as much as the work took."""
_BUSY = 12
"""Others are busy when a turn of theirs takes more than the work divided by this."""
_LONGEST_SLICE = 0.005

_now = time.thread_time


class Pace:
    """Shared by everything long, so that many at once get no more than one."""

    def __init__(self) -> None:
        self._free_at = 0.0

    @staticmethod
    def start() -> float:
        """When the first slice begins."""
        return _now()

    async def rest(self, began: float) -> float:
        """Give the others their turns after work since `began`; when the next slice begins."""
        now = _now()
        # A slice that waited for its reader did not work all that time.
        worked = min(now - began, _LONGEST_SLICE)
        self._free_at = max(self._free_at, now) + worked * REST
        free_at = self._free_at
        while True:
            before = _now()
            await asyncio.sleep(0)
            now = _now()
            if now >= free_at:
                break
            if (now - before) * _BUSY <= worked:  # nobody else has anything to do
                self._free_at = min(self._free_at, now)
                break
            await asyncio.sleep(free_at - now)
        return _now()
