"""Work that goes on while the application runs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from aiohttp import web

from signpost_namesrv import logs

log = logs.get("http")

Work = Callable[[web.Application], Coroutine[Any, Any, None]]


def background(work: Work) -> Callable[[web.Application], AsyncIterator[None]]:
    """The work as a cleanup context: begun with the application, cancelled with it."""

    async def context(app: web.Application) -> AsyncIterator[None]:
        task = asyncio.create_task(work(app), name=work.__name__)
        task.add_done_callback(_report)
        yield
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    return context


def _report(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("background work failed", work=task.get_name(), error=error)
