"""Pods in a few words each: thousands of them are remembered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from signpost_operator.api.kinds import Manifest
from signpost_operator.store import Ref


@dataclass(frozen=True, slots=True)
class PodFacts:
    """One pod as last seen."""

    name: str
    uid: str
    ip: str
    ready: bool
    stopping: bool
    images: tuple[str, ...]
    labels: tuple[tuple[str, str], ...]
    trouble: str
    """Why a container waits, when that is not the ordinary start; empty otherwise."""


_ORDINARY = {"", "ContainerCreating", "PodInitializing"}


def pod_facts(body: Manifest) -> PodFacts:
    """A pod in a few words."""
    metadata, status = body["metadata"], body.get("status", {})
    conditions = {each["type"]: each["status"] for each in status.get("conditions", ())}
    return PodFacts(
        name=metadata["name"],
        uid=metadata["uid"],
        ip=status.get("podIP", ""),
        ready=conditions.get("Ready") == "True",
        stopping="deletionTimestamp" in metadata,
        images=tuple(each["image"] for each in body["spec"].get("containers", ())),
        labels=tuple(sorted(metadata.get("labels", {}).items())),
        trouble=_trouble(status),
    )


def _trouble(status: Manifest) -> str:
    for each in (*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())):
        waiting = each.get("state", {}).get("waiting", {})
        if waiting.get("reason", "") not in _ORDINARY:
            message = f": {waiting['message']}" if waiting.get("message") else ""
            return f"{each['name']} waits, {waiting['reason']}{message}"[:300]
    for each in status.get("conditions", ()):
        if each["type"] == "PodScheduled" and each["status"] == "False":
            return f"not scheduled: {each.get('message', each.get('reason', ''))}"[:300]
    return ""


class Pods:
    """All pods that belong to the operator's workloads, by owner."""

    def __init__(self) -> None:
        self._by_owner: dict[Ref, dict[str, PodFacts]] = {}

    def put(self, owner: Ref, body: Manifest) -> bool:
        """Remember a pod; whether anything that counts has changed."""
        facts = pod_facts(body)
        pods = self._by_owner.setdefault(owner, {})
        if pods.get(facts.name) == facts:
            return False
        pods[facts.name] = facts
        return True

    def drop(self, owner: Ref, name: str, uid: str) -> bool:
        """Forget a pod that is gone, unless its name has a new one by now."""
        pods = self._by_owner.get(owner, {})
        if name not in pods or pods[name].uid != uid:
            return False
        del pods[name]
        if not pods:
            del self._by_owner[owner]
        return True

    def of(self, owner: Ref, labels: Mapping[str, str] | None = None) -> list[PodFacts]:
        """An owner's pods, in the order of their names."""
        wanted = set((labels or {}).items())
        pods = sorted(self._by_owner.get(owner, {}).values(), key=lambda pod: pod.name)
        return [pod for pod in pods if wanted <= set(pod.labels)]

    def missing(self, seen: set[str]) -> list[tuple[Ref, PodFacts]]:
        """Pods that a complete list, given by uid, did not have."""
        return [
            (owner, pod)
            for owner, pods in self._by_owner.items()
            for pod in pods.values()
            if pod.uid not in seen
        ]
