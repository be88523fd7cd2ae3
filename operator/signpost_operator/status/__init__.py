"""From what was observed to conditions, one line for `kubectl get`, and events. Pure.

cluster_status(cluster, before, facts, now)   of a NameServerCluster
broker_status(broker, before, facts, now)     of a Broker
refused_status(before, generation, why, now)  of either, when its spec cannot be carried out
"""

from collections.abc import Mapping
from typing import Any

from .broker import broker_status
from .cluster import cluster_status
from .conditions import Event, Finding, Told, conditions, cut, events

__all__ = ["Event", "Told", "broker_status", "cluster_status", "refused_status"]


def refused_status(
    before: Mapping[str, Any], generation: int, why: str, now: str, reason: str = "InvalidSpec"
) -> Told:
    """For a spec that is wrong: what runs goes on as it is, and the status says why."""
    found = [
        Finding("Ready", "False", reason, why),
        Finding("Progressing", "False", reason, "nothing is changed until the spec is right"),
        Finding("Degraded", "True", reason, why),
    ]
    kept = [
        condition
        for condition in before.get("conditions") or ()
        if condition.get("type") not in {finding.type for finding in found}
    ]
    status = {
        **before,
        "observedGeneration": generation,
        "conditions": [*conditions(before, found, generation, now), *kept],
        "summary": cut(why) if len(why) <= 120 else why[:117] + "...",
    }
    # One warning is enough for one mistake.
    return Told(status, tuple(e for e in events(before, found, ()) if e.type == "Warning"))
