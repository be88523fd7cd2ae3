"""Long work beside the remoting port: short slices, and a small share of a busy loop."""

import asyncio
import time

REST = 11
"""While others are busy, rest this many times as long as the work took: 8 % of the loop."""
_BUSY = 8
"""Others are busy when a turn of theirs takes more than the work divided by this."""
_LONGEST_SLICE = 0.005


class Pace:
    """Shared by everything long, so that many at once get no more than one."""

    def __init__(self) -> None:
        self._free_at = 0.0

    async def rest(self, began: float) -> float:
        """Give the others a turn after work since `began`; when the next slice begins."""
        before = time.perf_counter()
        # A slice that waited for its reader did not work all that time.
        worked = min(before - began, _LONGEST_SLICE)
        await asyncio.sleep(0)
        if (time.perf_counter() - before) * _BUSY > worked:
            self._free_at = max(self._free_at, before) + worked * REST
            await asyncio.sleep(self._free_at - time.perf_counter())
        return time.perf_counter()

    @staticmethod
    def start() -> float:
        """When the first slice begins."""
        return time.perf_counter()
