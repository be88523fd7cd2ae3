"""The status of a Broker. Pure."""

from collections.abc import Mapping
from typing import Any

from signpost_operator import names
from signpost_operator.facts import BrokerFacts, Group, Workload
from signpost_operator.resources.broker import Broker

from .conditions import Finding, Told, conditions, events, listed
from .workload import progressing

_NOTHING = Workload(wanted=0, current=False)


def broker_status(broker: Broker, before: Mapping[str, Any], facts: BrokerFacts, now: str) -> Told:
    """The new status and what to tell about it; `now` in RFC 3339."""
    found = [_ready(broker, facts), _progressing(broker, facts), _degraded(facts)]
    ready = sum((group.workload or _NOTHING).ready for group in facts.groups if not group.leaving)
    wanted = broker.spec.groups * broker.spec.replicas_per_group
    status: dict[str, Any] = {
        "observedGeneration": broker.generation,
        "groups": sum(group.workload is not None for group in facts.groups),
        "readyGroups": sum(_phase(group) == "Serving" for group in facts.groups),
        "ready": f"{ready}/{wanted}",
        "selector": names.selector_text(names.selector(broker.name, names.BROKER)),
        "version": _version(broker.spec.image),
        "groupStatus": [_group(group, facts) for group in facts.groups],
        "conditions": conditions(before, found, broker.generation, now),
        "summary": _summary(found, facts),
    }
    return Told(status, events(before, found, facts.changes))


def _ready(broker: Broker, facts: BrokerFacts) -> Finding:
    kind, wanted = "Ready", broker.spec.groups
    if wanted == 0:
        return Finding(kind, "False", "ScaledToZero", "no broker is wanted")
    here = [group for group in facts.groups if not group.leaving]
    serving = [group for group in here if _phase(group) == "Serving"]
    if len(serving) < wanted:
        said = f"{len(serving)} of {wanted} groups have all their brokers ready"
        return Finding(kind, "False", "NotAllReady", said)
    servers = facts.name_servers
    unknown = [g.name for g in here if servers and g.known_to is not None and g.known_to < servers]
    if unknown:
        said = f"not every name server knows {listed(unknown)}"
        return Finding(kind, "False", "NotRegistered", said)
    return Finding(kind, "True", "AllReady", f"all {wanted} groups have all their brokers ready")


def _progressing(broker: Broker, facts: BrokerFacts) -> Finding:
    kind = "Progressing"
    if facts.paused:
        message = f"changes are off: annotation {names.PAUSED} is true"
        return Finding(kind, "False", "Paused", message)
    if facts.waiting_for_addresses:
        pods = listed(facts.waiting_for_addresses)
        message = f"load balancers have no address yet: {pods}"
        return Finding(kind, "True", "WaitingForAddresses", message)
    leaving = [group.name for group in facts.groups if group.leaving]
    if leaving and facts.held_back:
        return Finding(kind, "False", "HeldBack", facts.held_back)
    if leaving:
        return Finding(kind, "True", "Draining", f"draining {listed(leaving)}")
    workloads = [group.workload for group in facts.groups]
    if any(one is None for one in workloads) or len(workloads) < broker.spec.groups:
        return progressing(None, broker.spec.groups * broker.spec.replicas_per_group, "brokers")
    return progressing(
        _total([one for one in workloads if one is not None]),
        broker.spec.groups * broker.spec.replicas_per_group,
        "brokers",
    )


def _degraded(facts: BrokerFacts) -> Finding:
    kind = "Degraded"
    if facts.failure:
        return Finding(kind, "True", facts.failure.reason, facts.failure.message)
    if facts.held_back:
        return Finding(kind, "True", "HeldBack", facts.held_back)
    troubles = [f"{group.name}: {group.trouble}" for group in facts.groups if group.trouble]
    if troubles:
        return Finding(kind, "True", "PodsFailing", listed(troubles))
    stuck = [g.workload.stuck for g in facts.groups if g.workload and g.workload.stuck]
    if stuck:
        return Finding(kind, "True", "RolloutStuck", listed(stuck))
    return Finding(kind, "False", "Sound", "nothing is wrong")


def _total(workloads: list[Workload]) -> Workload:
    return Workload(
        wanted=sum(one.wanted for one in workloads),
        replicas=sum(one.replicas for one in workloads),
        ready=sum(one.ready for one in workloads),
        updated=sum(one.updated for one in workloads),
        current=all(one.current for one in workloads),
        stuck=next((one.stuck for one in workloads if one.stuck), ""),
    )


def _phase(group: Group) -> str:
    workload = group.workload
    if group.leaving:
        return "Draining"
    if group.trouble:
        return "Failing"
    if workload is None:
        return "Starting"
    if workload.settled:
        return "Serving" if workload.wanted else "Stopped"
    return "Updating" if workload.current and workload.updated < workload.wanted else "Starting"


def _group(group: Group, facts: BrokerFacts) -> dict[str, Any]:
    workload = group.workload or _NOTHING
    known = group.known_to is not None and facts.name_servers is not None
    found = {
        "name": group.name,
        "replicas": workload.wanted,
        "readyReplicas": workload.ready,
        "phase": _phase(group),
        "writable": group.writable,
        "knownTo": f"{group.known_to}/{facts.name_servers}" if known else None,
        "addresses": list(group.addresses) or None,
        "message": group.trouble or None,
    }
    return {key: value for key, value in found.items() if value is not None}


def _version(image: str) -> str:
    tag = image.partition("@")[0].rpartition("/")[2].partition(":")[2]
    return tag or image.partition("@")[2][:19] or "latest"


def _summary(found: list[Finding], facts: BrokerFacts) -> str:
    by = {finding.type: finding for finding in found}
    if by["Degraded"].status == "True":
        text = by["Degraded"].message
    elif by["Progressing"].status == "True":
        text = by["Progressing"].message
    elif by["Ready"].status != "True":
        text = by["Ready"].message
    else:
        text = "serving"
    text = f"paused; {text}" if facts.paused else text
    return text if len(text) <= 120 else text[:117] + "..."
