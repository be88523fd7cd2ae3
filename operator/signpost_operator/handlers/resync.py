"""Lists of everything: at the start, and now and then in case a watch has missed something.

Kopf does not notice what was deleted while a watch was broken for so long that it had to start
anew; a list does.
"""

from __future__ import annotations

import asyncio
import logging

from signpost_operator.api import ApiError, Kind, NotFoundError
from signpost_operator.api.kinds import POD

from .watch import RESOURCES, SELECTOR, all_kinds, remember
from .world import World

log = logging.getLogger("signpost.resync")


async def resync(world: World) -> None:
    """Bring the memory up to date; ApiError when the API server does not answer."""
    world.apis = await api_groups(world)
    # Resources last: once they ask for work, all that was made for them is known.
    kinds = sorted(all_kinds(world.apis), key=lambda kind: kind in RESOURCES)
    for kind in kinds:
        await _resync_kind(world, kind)
    world.metrics.held.set(len(world.owned) + len(world.resources))


async def keep_resyncing(world: World) -> None:
    """Again and again, until cancelled."""
    while True:
        await asyncio.sleep(world.settings.resync_seconds)
        try:
            await resync(world)
        except ApiError as error:
            log.warning("not everything could be listed: %s", error)


async def api_groups(world: World) -> frozenset[str]:
    """The API groups that the cluster has."""
    found = await world.api.get("/apis")
    return frozenset(str(group["name"]) for group in found.get("groups", ()))


async def _resync_kind(world: World, kind: Kind) -> None:
    selector = "" if kind in RESOURCES else SELECTOR
    seen: set[str] = set()
    for namespace in world.settings.namespaces or (None,):
        try:
            async for body in world.api.list(kind, namespace, selector):
                seen.add(body["metadata"]["uid"])
                remember(world, kind, body, gone=False)
        except NotFoundError:
            if not kind.optional:
                raise
    _forget_missing(world, kind, seen)


def _forget_missing(world: World, kind: Kind, seen: set[str]) -> None:
    if kind is POD:
        for owner, pod in world.pods.missing(seen):
            world.pods.drop(owner, pod.name, pod.uid)
            world.ask(owner, 0.0)
        return
    store = world.resources if kind in RESOURCES else world.owned
    for ref, held in store.vanished(kind.name, seen):
        log.info("found gone", extra={"object": f"{ref.kind} {ref.namespace}/{ref.name}"})
        remember(world, kind, held.body, gone=True)
