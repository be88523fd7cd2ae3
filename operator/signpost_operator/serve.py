"""The operator's own HTTP: is it alive, does it work, what does it count."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from .metrics import Metrics


class Health:
    """What the probes are told."""

    def __init__(self) -> None:
        self.state = "starting"
        self.observed: Callable[[], bool] = lambda: False
        """Whether every resource has been looked at since the start."""


@asynccontextmanager
async def served(listen: str, metrics: Metrics, health: Health) -> AsyncIterator[str]:
    """Serve while the block runs; gives the address."""

    async def alive(_: web.Request) -> web.Response:
        # That this runs at all is the proof: a stuck loop would not answer.
        return web.json_response({"state": health.state})

    async def ready(_: web.Request) -> web.Response:
        """A replica that stands by is ready too: the next one may be rolled."""
        is_ready = health.state == "standing by" or health.observed()
        return web.json_response({"state": health.state}, status=200 if is_ready else 503)

    async def measured(_: web.Request) -> web.Response:
        body = await asyncio.to_thread(generate_latest, metrics.registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application()
    app.router.add_get("/healthz", alive)
    app.router.add_get("/readyz", ready)
    app.router.add_get("/metrics", measured)
    host, _, port = listen.rpartition(":")
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host.strip("[]") or None, int(port))
        await site.start()
        bound = runner.addresses[0]
        yield f"{bound[0]}:{bound[1]}"
    finally:
        await runner.cleanup()
