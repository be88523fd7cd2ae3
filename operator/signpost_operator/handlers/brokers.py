"""Broker: parse, desired, drain, apply, status."""

from __future__ import annotations

from collections.abc import Mapping

from signpost_operator import desired, names
from signpost_operator.api import Manifest
from signpost_operator.api.kinds import BROKER, NAME_SERVER_CLUSTER
from signpost_operator.apply import Outcome
from signpost_operator.facts import BrokerFacts, Group
from signpost_operator.observe import Sight
from signpost_operator.observe.workloads import balancer_host, workload_of
from signpost_operator.resources import Broker, NameServerCluster, SpecError, parse
from signpost_operator.status import broker_status, refused_status
from signpost_operator.store import Ref, ref_of

from .common import (
    Done,
    changes_of,
    conclude,
    context_of,
    failure_of,
    is_paused,
    now,
)
from .drain import Leaving, take_away
from .nameservers import sight_of
from .volumes import grow
from .world import World

KIND = BROKER
LOOK_AGAIN = 30.0


async def reconcile(world: World, ref: Ref, body: Manifest) -> Done:
    """Make a Broker true, as far as it goes in one step."""
    before, generation = body.get("status") or {}, body["metadata"].get("generation", 0)
    try:
        broker = parse(Broker, body)
    except SpecError as error:
        return await conclude(
            world, KIND, body, refused_status(before, generation, str(error), now())
        )
    named = broker.spec.name_server_cluster
    at = Ref(NAME_SERVER_CLUSTER.name, named.namespace or broker.namespace, named.name)
    cluster, why, reason = _cluster(world, broker, at)
    if cluster is None:
        told = refused_status(before, generation, why, now(), reason)
        return await conclude(world, KIND, body, told)
    hosts, waiting = _hosts(world, broker)
    leaving, outcome, paused = Leaving(), Outcome(), is_paused(body)
    if not paused:
        wanted = desired.brokers(broker, cluster, context_of(world), hosts)
        refs = {ref_of(manifest) for manifest in wanted}
        await grow(world, body, wanted)
        leaving = await take_away(world, body, broker, at, refs)
        outcome = await world.applier.converge(body, KIND, wanted, leaving.keep)
    sight = sight_of(world, at)
    facts = BrokerFacts(
        groups=_groups(world, body, broker, sight),
        name_servers=len(sight.replies) if sight.replies else None,
        waiting_for_addresses=waiting,
        held_back=leaving.refusal,
        paused=paused,
        failure=failure_of(outcome),
        changes=changes_of(outcome),
    )
    done = await conclude(world, KIND, body, broker_status(broker, before, facts, now()), outcome)
    return Done(done.outcome, leaving.again)


def _cluster(world: World, broker: Broker, at: Ref) -> tuple[NameServerCluster | None, str, str]:
    """The cluster that a Broker names, or why it cannot join it."""
    held = world.resources.get(at)
    where = f"{at.namespace}/{at.name}"
    if held is None:
        return None, f"there is no NameServerCluster {where}", "NoNameServerCluster"
    try:
        cluster = parse(NameServerCluster, held.body)
    except SpecError:
        return None, f"the spec of NameServerCluster {where} is wrong", "BadNameServerCluster"
    if why := desired.refusal(broker, cluster):
        return None, why, "NotAllowed"
    return cluster, "", ""


def _hosts(world: World, broker: Broker) -> tuple[dict[str, str], tuple[str, ...]]:
    """The load balancers' hosts by pod, and the pods whose load balancer has none yet."""
    if broker.spec.advertise.type != "LoadBalancer":
        return {}, ()
    hosts: dict[str, str] = {}
    waiting: list[str] = []
    for group in range(broker.spec.groups):
        for ordinal in range(broker.spec.replicas_per_group):
            pod = names.pod(broker.name, group, ordinal)
            held = world.owned.get(Ref("Service", broker.namespace, pod))
            host = balancer_host(held.body) if held else ""
            if host:
                hosts[pod] = host
            else:
                waiting.append(pod)
    return hosts, tuple(waiting)


def _groups(world: World, body: Manifest, broker: Broker, sight: Sight) -> tuple[Group, ...]:
    ref = Ref(KIND.name, broker.namespace, broker.name)
    wanted = [names.group(broker.name, number) for number in range(broker.spec.groups)]
    sets = {
        each.name: held.body
        for each, held in world.owned.owned_by(body["metadata"]["uid"]).items()
        if each.kind == "StatefulSet"
    }
    leaving = sorted(sets.keys() - set(wanted))
    return tuple(
        _group(world, ref, name, sets, sight, name in leaving) for name in [*wanted, *leaving]
    )


def _group(
    world: World, ref: Ref, name: str, sets: Mapping[str, Manifest], sight: Sight, leaving: bool
) -> Group:
    pods = world.pods.of(ref, {names.GROUP_LABEL: name})
    known = len(sight.knows.get(name, ())) if sight.replies else None
    return Group(
        name=name,
        workload=workload_of(sets[name]) if name in sets else None,
        leaving=leaving,
        writable=name in sight.writable if known else None,
        known_to=known,
        addresses=tuple(pod.ip for pod in pods if pod.ip),
        trouble=next((f"{pod.name}: {pod.trouble}" for pod in pods if pod.trouble), ""),
    )
