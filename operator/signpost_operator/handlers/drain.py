"""Broker groups on their way out: no more writing, a while for producers to see it, then stop.

Where a group stands is written on its StatefulSet, so that a restarted operator goes on there.
The pods drain themselves too when they stop, through their sidecar; a name server that could not
be told here is told by it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from signpost_operator.api import Manifest
from signpost_operator.names import ALLOW_LAST_GROUP, GROUP_LABEL
from signpost_operator.observe import Sight
from signpost_operator.remoting import RemotingError, set_writable
from signpost_operator.resources import Broker
from signpost_operator.status import Event
from signpost_operator.store import Held, Ref

from .world import World

SINCE = "signpost.dev/draining-since"
CHECK_SECONDS = 5.0


@dataclass(slots=True)
class Leaving:
    """What is being taken away, and what must stay meanwhile."""

    keep: set[Ref] = field(default_factory=set)
    phases: dict[str, str] = field(default_factory=dict)
    """What is being done to each group that is no longer wanted."""
    refusal: str = ""
    again: float | None = None
    """When to look again, in seconds."""


async def take_away(
    world: World, body: Manifest, broker: Broker, cluster: Ref, wanted: set[Ref]
) -> Leaving:
    """One step on the way out for every group that is no longer wanted."""
    result = Leaving()
    owned = world.owned.owned_by(body["metadata"]["uid"])
    sets = {ref: held for ref, held in owned.items() if ref.kind == "StatefulSet"}
    sight = _sight(world, cluster)
    leaving = {ref: held for ref, held in sets.items() if ref not in wanted}
    staying = {ref: held for ref, held in sets.items() if ref in wanted}
    await _come_back(world, body, cluster, staying)
    for ref, held in leaving.items():
        parts = {each for each in owned if _belongs(each.name, ref.name)}
        begun = held.body["metadata"].get("annotations", {}).get(SINCE)
        refusal = "" if begun else _refusal(broker, ref, held, staying, sight)
        if refusal:
            result.refusal = refusal
            result.keep |= parts
            result.again = CHECK_SECONDS
            continue
        phase, again = await _step(world, body, broker, cluster, ref, held, begun)
        if phase:
            result.keep |= parts
            result.phases[ref.name] = phase
            result.again = min(again, result.again or again)
    return result


async def _step(
    world: World,
    body: Manifest,
    broker: Broker,
    cluster: Ref,
    ref: Ref,
    held: Held,
    begun: str | None,
) -> tuple[str, float]:
    """The next step for one group; the phase is empty once nothing is left to wait for."""
    live = held.body
    group, wait = ref.name, float(broker.spec.sidecar.drain_seconds)
    pods = world.pods.of(Ref("Broker", ref.namespace, broker.name), {GROUP_LABEL: group})
    if int(live["spec"].get("replicas", 1)) == 0:
        if pods or int(live.get("status", {}).get("replicas", 0)):
            return "stopping its pods", CHECK_SECONDS
        await _tell(world, body, "Drained", f"Group {group} is empty and goes")
        return "", 0.0
    if begun is None:
        if not any(pod.ip for pod in pods):
            await world.applier.scale(ref, 0)
            return "stopping pods that never served", CHECK_SECONDS
        missed = await tell_name_servers(world, cluster, group, writable=False)
        await world.applier.annotate(ref, {SINCE: _stamp()})
        await _tell(world, body, "Draining", _began(group, wait, missed), bool(missed))
        return "no more writing", wait
    left = wait - (datetime.now(UTC) - datetime.fromisoformat(begun)).total_seconds()
    if group in _sight(world, cluster).writable:
        await tell_name_servers(world, cluster, group, writable=False)
    if left > 0:
        return f"no more writing, {left:.0f} s to go", min(left, CHECK_SECONDS)
    await world.applier.scale(ref, 0)
    await _tell(world, body, "Stopping", f"Stopping the brokers of group {group}")
    return "stopping its pods", CHECK_SECONDS


async def _come_back(
    world: World, body: Manifest, cluster: Ref, staying: Mapping[Ref, Held]
) -> None:
    """A group that was leaving and is wanted again may be written to again."""
    for ref, held in staying.items():
        if SINCE in held.body["metadata"].get("annotations", {}):
            await tell_name_servers(world, cluster, ref.name, writable=True)
            await world.applier.annotate(ref, {SINCE: None})
            await _tell(world, body, "DrainCancelled", f"Group {ref.name} is wanted again")


async def tell_name_servers(world: World, cluster: Ref, group: str, writable: bool) -> list[str]:
    """Set a group's write permission on all of them; those that could not be told, and why."""
    pods = [pod for pod in world.pods.of(cluster) if pod.ip and not pod.stopping]
    port = world.settings.remoting_port
    told = await asyncio.gather(
        *[set_writable(pod.ip, port, group, writable) for pod in pods], return_exceptions=True
    )
    missed: list[str] = []
    for pod, error in zip(pods, told, strict=True):
        if isinstance(error, RemotingError):
            missed.append(f"{pod.name} ({error})")
        elif isinstance(error, BaseException):
            raise error
    return missed


async def _tell(
    world: World, body: Manifest, reason: str, message: str, warning: bool = False
) -> None:
    await world.teller.tell(body, Event("Warning" if warning else "Normal", reason, message))


def _refusal(
    broker: Broker, ref: Ref, held: Held, staying: Mapping[Ref, Held], sight: Sight
) -> str:
    """Why a group may not go: producers would be left with nowhere to write."""
    if broker.annotations.get(ALLOW_LAST_GROUP) == "true" or not _serves(ref, held, sight):
        return ""
    if any(_serves(other, its, sight) for other, its in staying.items()):
        return ""
    return (
        f"group {ref.name} is the last one that can be written to: wait until another is ready, "
        f'or set the annotation {ALLOW_LAST_GROUP}: "true"'
    )


def _serves(ref: Ref, held: Held, sight: Sight) -> bool:
    """By the name servers' word where there is one, else by the pods' readiness."""
    if sight.knows:
        return ref.name in sight.writable
    return int(held.body.get("status", {}).get("readyReplicas", 0)) > 0


def _sight(world: World, cluster: Ref) -> Sight:
    watcher = world.watchers.get(cluster)
    return watcher.sight if watcher else Sight()


def _belongs(name: str, group: str) -> bool:
    """Whether an object is the group's: its StatefulSet, its ConfigMap or one pod's Service."""
    head, _, ordinal = name.rpartition("-")
    return name == group or (head == group and ordinal.isdigit())


def _began(group: str, seconds: float, missed: Sequence[str]) -> str:
    if missed:
        return (
            f"Draining group {group} for {seconds:g} s, but not told to {', '.join(missed)}: "
            "its sidecar will tell them when it stops"
        )
    return f"Took away the write permission of group {group}; stopping it in {seconds:g} s"


def _stamp() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
