"""A broker hung up: is it gone, or will it be back?

A name server takes a broker out as soon as its connection closes. Behind a sidecar that would
be hasty: a stock broker opens a new connection only when its next beat is due, up to a minute
later, and would be without routes until then. But its process listens: whoever can be connected
to is there, and whoever cannot is gone.
"""

import asyncio
from collections.abc import Awaitable, Callable
from enum import Enum

Sleep = Callable[[float], Awaitable[None]]

FIRST_PAUSE = 0.05
PROBE_SECONDS = 1.0
PROBE_TIMEOUT = 0.3


class Fate(Enum):
    """What became of a broker that hung up."""

    BACK = "back"
    GONE = "gone"
    SILENT = "silent"


async def await_fate(
    is_there: Callable[[], Awaitable[bool]],
    is_back: Callable[[], bool],
    is_fresh: Callable[[], bool],
    sleep: Sleep = asyncio.sleep,
) -> Fate:
    """Look after it every second until it is back, gone, or silent beyond its timeout.

    At first more often: a process that dies may listen for a moment longer than it speaks.
    """
    pause = FIRST_PAUSE
    while True:
        if is_back():
            return Fate.BACK
        if not await is_there():
            return Fate.BACK if is_back() else Fate.GONE
        if not is_fresh():
            return Fate.SILENT
        await sleep(pause)
        pause = min(2 * pause, PROBE_SECONDS)


async def can_connect(host: str, port: int, seconds: float = PROBE_TIMEOUT) -> bool:
    """Whether somebody listens there."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(seconds):
            transport, _ = await loop.create_connection(asyncio.Protocol, host, port)
    except (OSError, TimeoutError):
        return False
    transport.abort()
    return True
