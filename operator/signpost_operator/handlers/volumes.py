"""Volumes that should be larger than they are.

A StatefulSet makes volumes and never looks at them again; its claims for new ones cannot change
either, so a new StatefulSet takes the old one's place afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable

from signpost_operator.api import ApiError, Manifest, NotFoundError
from signpost_operator.compare import differences
from signpost_operator.status import Event
from signpost_operator.store import Ref, ref_of

from .world import World


async def grow(world: World, body: Manifest, wanted: Iterable[Manifest]) -> None:
    """Ask for the new size of every volume whose StatefulSet still has the old one."""
    for manifest in wanted:
        ref = ref_of(manifest)
        held = world.owned.get(ref) if ref.kind == "StatefulSet" else None
        if held is None:
            continue
        live, sizes = held.body, _sizes(manifest)
        if not differences({"requests": sizes}, {"requests": _sizes(live)}):
            continue
        for ordinal in range(int(live["spec"].get("replicas", 1))):
            for claim, size in sizes.items():
                await _ask(
                    world,
                    body,
                    Ref("PersistentVolumeClaim", ref.namespace, f"{claim}-{ref.name}-{ordinal}"),
                    size,
                )


async def _ask(world: World, body: Manifest, claim: Ref, size: str) -> None:
    try:
        await world.applier.resize(claim, size)
    except NotFoundError:
        return
    except ApiError as error:
        message = f"{claim.name} keeps its size: {error}"
        await world.teller.tell(body, Event("Warning", "VolumeNotGrown", message))


def _sizes(stateful_set: Manifest) -> dict[str, str]:
    return {
        claim["metadata"]["name"]: str(claim["spec"]["resources"]["requests"]["storage"])
        for claim in stateful_set["spec"].get("volumeClaimTemplates") or ()
    }
