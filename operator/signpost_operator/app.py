"""The operator as a process: stand by, lead, work, stop."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Coroutine
from contextlib import AsyncExitStack, suppress
from typing import Any

import kopf

from .api import Api, ApiError
from .api.kinds import GROUP_VERSION
from .handlers.beat import keep_observing
from .handlers.queue import WorkQueue
from .handlers.reconcile import reconcile
from .handlers.resync import keep_resyncing, resync
from .handlers.watch import RESOURCES, all_kinds, kopf_settings, registry
from .handlers.world import World
from .lease import Lease, LeaseLostError
from .metrics import Metrics
from .serve import Health, served
from .settings import Settings
from .store import Ref

log = logging.getLogger("signpost.operator")

STOP_SECONDS = 10.0
WAIT_SECONDS = 2.0


async def run(settings: Settings) -> int:
    """Run until told to stop; the exit status."""
    metrics, health, stop = Metrics(), Health(), asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, stop.set)
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(served(settings.listen, metrics, health))
        api = await stack.enter_async_context(Api(metrics.count_call))
        log.info("started", extra={"http": address, "namespaces": settings.namespaces or "all"})
        lease = Lease(
            api,
            settings.lease_namespace or settings.operator_namespace or "default",
            settings.lease_name,
            settings.identity,
            settings.lease_seconds,
        )
        if settings.leader_election:
            health.state = "standing by"
            if not await _unless(stop, lease.acquire()):
                return 0
        metrics.leading.set(1)
        health.state = "leading"
        try:
            return await _work(settings, api, metrics, health, lease, stop)
        finally:
            metrics.leading.set(0)
            if settings.leader_election:
                with suppress(TimeoutError):
                    async with asyncio.timeout(STOP_SECONDS):
                        await lease.release()
    return 0


async def _work(
    settings: Settings,
    api: Api,
    metrics: Metrics,
    health: Health,
    lease: Lease,
    stop: asyncio.Event,
) -> int:
    world = World(settings, api, metrics)
    queue: WorkQueue[Ref] = WorkQueue(lambda ref: reconcile(world, ref), settings.workers)

    def ask(ref: Ref, after: float) -> None:
        queue.add(ref, after)
        metrics.waiting.set(len(queue))

    world.ask = ask
    if not await _unless(stop, _first_look(world)):
        return 0
    health.observed = _once(queue.idle)
    duties: list[Coroutine[Any, Any, None]] = [
        queue.run(),
        keep_observing(world),
        keep_resyncing(world),
        _kopf(world, stop),
    ]
    if settings.leader_election:
        duties.append(lease.keep())
    tasks = [asyncio.create_task(duty) for duty in duties]
    stopping = asyncio.create_task(stop.wait())
    try:
        done, _ = await asyncio.wait({*tasks, stopping}, return_when=asyncio.FIRST_COMPLETED)
        return 0 if stopping in done or stop.is_set() else _blame(done)
    finally:
        for task in (*tasks, stopping):
            task.cancel()
        await asyncio.gather(*tasks, stopping, return_exceptions=True)
        await world.asker.close()


async def _first_look(world: World) -> None:
    """Wait for the API server and for the custom resources' definitions, then list everything."""
    told = ""
    while True:
        try:
            found = await world.api.get(f"/apis/{GROUP_VERSION}")
            missing = {kind.plural for kind in RESOURCES} - {
                each["name"] for each in found.get("resources", ())
            }
            if not missing:
                await resync(world)
                return
            why = f"the cluster has no {', '.join(sorted(missing))}: are the CRDs installed?"
        except ApiError as error:
            why = str(error)
        if why != told:
            log.warning("waiting: %s", why)
            told = why
        await asyncio.sleep(WAIT_SECONDS)


async def _kopf(world: World, stop: asyncio.Event) -> None:
    namespaces = list(world.settings.namespaces)
    await kopf.operator(
        registry=registry(world, all_kinds(world.apis)),
        settings=kopf_settings(world.settings),
        standalone=True,
        clusterwide=not namespaces,
        namespaces=namespaces,
    )
    # While it runs, the signals come to it.
    stop.set()


async def _unless(stop: asyncio.Event, coroutine: Coroutine[Any, Any, None]) -> bool:
    """Wait for something, or for being told to stop; whether it was done."""
    task, stopping = asyncio.create_task(coroutine), asyncio.create_task(stop.wait())
    await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if task.done():
        task.result()
        return True
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return False


def _blame(done: set[asyncio.Task[Any]]) -> int:
    for task in done:
        error = None if task.cancelled() else task.exception()
        if isinstance(error, LeaseLostError):
            log.error("stopping: %s", error)
        elif error is not None:
            log.error("stopping", exc_info=error)
    return 1


def _once(condition: Any) -> Any:
    """True from the first time on that it holds."""
    held = False

    def so_far() -> bool:
        nonlocal held
        held = held or bool(condition())
        return held

    return so_far
