"""Kopf's handlers. They only remember and ask for work.

Handlers of raw events leave no trace in the objects: neither finalizers, which would hold up the
deletion of a namespace while no operator runs, nor annotations with Kopf's progress. What must
be undone when a resource is deleted is undone by Kubernetes, through owner references.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from itertools import repeat
from typing import Any

import kopf

from signpost_operator.api import Kind, Manifest
from signpost_operator.api.kinds import BROKER, NAME_SERVER_CLUSTER, OWNED, POD, ROUTE_HEALTH_REPORT
from signpost_operator.api.login import login
from signpost_operator.names import FIELD_MANAGER
from signpost_operator.settings import Settings
from signpost_operator.store import ref_of

from .world import World

SELECTOR = f"app.kubernetes.io/managed-by={FIELD_MANAGER}"
RESOURCES = (NAME_SERVER_CLUSTER, BROKER, ROUTE_HEALTH_REPORT)


class Patience:
    """How long Kopf waits between tries: it never gives up, and never waits for long."""

    def __iter__(self) -> Iterator[float]:
        yield from (0.2, 0.5, 1.0, 2.0)
        yield from repeat(3.0)


Handler = Callable[..., Awaitable[None]]


def registry(world: World, kinds: tuple[Kind, ...]) -> kopf.OperatorRegistry:
    """The handlers of all kinds that the cluster has."""
    handlers = kopf.OperatorRegistry()

    @kopf.on.login(registry=handlers)
    def log_in(**_: Any) -> kopf.ConnectionInfo:
        return login()

    for kind in kinds:
        kopf.on.event(kind.api_version, kind.plural, registry=handlers, id=kind.plural)(
            _handler(world, kind)
        )
    return handlers


def all_kinds(apis: frozenset[str]) -> tuple[Kind, ...]:
    """What is watched in a cluster with these API groups."""
    owned = (each for each in OWNED if not each.optional or each.group in apis)
    return (*RESOURCES, *owned, POD)


def kopf_settings(settings: Settings) -> kopf.OperatorSettings:
    """Kopf, told to watch only what is ours and to write nothing of its own."""
    chosen = kopf.OperatorSettings()
    chosen.posting.enabled = False
    chosen.peering.standalone = True
    # Kinds are known at the start; looking for new ones needs a right to read all CRDs.
    chosen.scanning.disabled = True
    chosen.watching.server_timeout = 600
    # Thousands of objects must not be in memory all at once, nor a task kept for each.
    chosen.watching.chunk_size = 200
    chosen.queueing.idle_timeout = 0.1
    chosen.networking.error_backoffs = Patience()
    for kind in (*OWNED, POD):
        chosen.watching.label_selectors[kind.api_version, kind.plural] = SELECTOR
    return chosen


def remember(world: World, kind: Kind, body: Manifest, gone: bool) -> None:
    """Take one object into the operator's memory, or out of it."""
    body = {"apiVersion": kind.api_version, "kind": kind.name, **body}
    ref = ref_of(body)
    if kind is POD:
        (world.pod_gone if gone else world.pod_seen)(body)
    elif kind in RESOURCES:
        if gone:
            world.resource_gone(ref, body["metadata"]["uid"])
        else:
            world.resource_seen(ref, body)
    else:
        (world.object_gone if gone else world.object_seen)(ref, body)


def _handler(world: World, kind: Kind) -> Handler:
    async def seen(event: Any, **_: Any) -> None:
        remember(world, kind, event["object"], event["type"] == "DELETED")

    return seen
