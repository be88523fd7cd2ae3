"""Counts of HTTP requests, and how late the event loop is."""

import asyncio
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Callable

from aiohttp import web

LATENCY = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
LAG = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0)
_EVERY = 0.1


class Histogram:
    """Counts by bucket; the last one is for all that is larger."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        """Count one value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value


class HttpStats:
    """Requests by method, path template and status; the path template bounds the labels."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.seconds: dict[str, Histogram] = {}
        self.lag = Histogram(LAG)

    def count(self, method: str, path: str, status: int, seconds: float) -> None:
        """One request was answered."""
        self.requests[method, path, status] += 1
        self.seconds.setdefault(path, Histogram(LATENCY)).observe(seconds)


HTTP_STATS = web.AppKey("http_stats", HttpStats)


@web.middleware
async def counted(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Count a request by the path that it matched; what matched none has one name together."""
    began = time.perf_counter()
    status = 499  # the client went away
    try:
        response = await handler(request)
        status = response.status
        return response
    finally:
        resource = request.match_info.route.resource
        path = "unknown" if resource is None else resource.canonical
        method = request.method if resource is not None else "any"
        request.app[HTTP_STATS].count(method, path, status, time.perf_counter() - began)


async def measure_lag(app: web.Application) -> None:
    """See how much later than asked the loop wakes us."""
    loop = asyncio.get_running_loop()
    lag = app[HTTP_STATS].lag
    while True:
        due = loop.time() + _EVERY
        await asyncio.sleep(_EVERY)
        # Timers of uvloop count whole milliseconds.
        lag.observe(max(0.0, loop.time() - due - 0.001))
