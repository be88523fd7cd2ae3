"""The beat: every name server of every cluster is asked what it knows."""

from __future__ import annotations

import asyncio
import logging

from signpost_operator.api.kinds import NAME_SERVER_CLUSTER
from signpost_operator.names import NAMESRV, selector
from signpost_operator.store import Ref

from .world import World

log = logging.getLogger("signpost.beat")

CLUSTERS_AT_ONCE = 16


async def keep_observing(world: World) -> None:
    """Again and again, until cancelled. Beats start at fixed times, however long they take."""
    loop = asyncio.get_running_loop()
    slots = asyncio.Semaphore(CLUSTERS_AT_ONCE)
    while True:
        began = loop.time()
        clusters = [ref for ref, _ in world.resources.of_kind(NAME_SERVER_CLUSTER.name)]
        await asyncio.gather(*[_observe(world, slots, ref) for ref in clusters])
        await asyncio.sleep(max(0.1, began + world.settings.observe_seconds - loop.time()))


async def _observe(world: World, slots: asyncio.Semaphore, cluster: Ref) -> None:
    pods = world.pods.of(cluster, selector(cluster.name, NAMESRV))
    known = cluster in world.watchers
    if not known and not any(pod.ip for pod in pods):
        return
    async with slots:
        news = await world.watcher(cluster).beat(pods)
    if news:
        for ref in (cluster, *world.brokers_of(cluster)):
            world.ask(ref, 0.0)
