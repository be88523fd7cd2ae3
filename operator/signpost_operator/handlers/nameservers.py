"""NameServerCluster: parse, desired, apply, status."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from signpost_operator import desired, names
from signpost_operator.api import Manifest
from signpost_operator.api.kinds import NAME_SERVER_CLUSTER
from signpost_operator.apply import Outcome
from signpost_operator.facts import ClusterFacts, NameServer, Report
from signpost_operator.observe import PodFacts, Sight
from signpost_operator.observe.workloads import external_address, version_of, workload_of
from signpost_operator.resources import (
    Broker,
    NameServerCluster,
    RouteHealthReport,
    SpecError,
    parse,
)
from signpost_operator.status import cluster_status, refused_status
from signpost_operator.store import Ref

from . import reports
from .common import (
    Done,
    changes_of,
    conclude,
    context_of,
    failure_of,
    is_paused,
    now,
)
from .world import World

KIND = NAME_SERVER_CLUSTER


async def reconcile(world: World, ref: Ref, body: Manifest) -> Done:
    """Make a NameServerCluster true, as far as it goes in one step."""
    before = body.get("status") or {}
    try:
        cluster = parse(NameServerCluster, body)
    except SpecError as error:
        generation = body["metadata"].get("generation", 0)
        return await conclude(
            world, KIND, body, refused_status(before, generation, str(error), now())
        )
    outcome, paused = Outcome(), is_paused(body)
    runs = reports.plan(world, body, cluster, context_of(world), datetime.now(UTC))
    if not paused:
        wanted = [*name_servers(world, ref, cluster), *runs.wanted]
        outcome = await world.applier.converge(body, KIND, wanted, runs.keep)
    facts = observe(world, ref, paused, outcome)
    if facts.failure is None and runs.failure is not None:
        facts = replace(facts, failure=runs.failure)
    done = await conclude(world, KIND, body, cluster_status(cluster, before, facts, now()), outcome)
    return Done(done.outcome, runs.again)


def name_servers(world: World, ref: Ref, cluster: NameServerCluster) -> list[Manifest]:
    """All objects of the name servers, the copy of their KV configuration included."""
    context = context_of(world)
    found = desired.name_servers(cluster, context, joined(world, ref, cluster))
    sight = sight_of(world, ref)
    if sight.kv:
        copy = desired.kv_map(cluster, desired.kv_file(sight.kv))
        found += [copy] if copy else []
    return found


def joined(world: World, ref: Ref, cluster: NameServerCluster) -> list[Broker]:
    """The Brokers that may register with a cluster and can be understood."""
    found: list[Broker] = []
    for each in world.brokers_of(ref):
        held = world.resources.get(each)
        if held is None:
            continue
        try:
            broker = parse(Broker, held.body)
        except SpecError:
            continue
        if not desired.refusal(broker, cluster):
            found.append(broker)
    return found


def observe(world: World, ref: Ref, paused: bool, outcome: Outcome) -> ClusterFacts:
    """What is true of a cluster now."""
    sight = sight_of(world, ref)
    name = names.namesrv(ref.name)
    deployment = world.owned.get(Ref("Deployment", ref.namespace, name))
    service = world.owned.get(Ref("Service", ref.namespace, name))
    pods = world.pods.of(ref, names.selector(ref.name, names.NAMESRV))
    return ClusterFacts(
        workload=workload_of(deployment.body) if deployment else None,
        name_servers=tuple(_server(pod, sight) for pod in pods if not pod.stopping),
        agreement=sight.agreement,
        differing_topics=tuple(sorted(sight.lasting.topics)),
        differing_brokers=tuple(sorted(sight.lasting.brokers)),
        report=_report(world, ref),
        external=external_address(service.body) if service else "",
        paused=paused,
        failure=failure_of(outcome),
        changes=changes_of(outcome),
    )


def sight_of(world: World, ref: Ref) -> Sight:
    """What the last beat saw of a cluster's name servers."""
    watcher = world.watchers.get(ref)
    return watcher.sight if watcher else Sight()


def _server(pod: PodFacts, sight: Sight) -> NameServer:
    reply = sight.replies.get(pod.name)
    return NameServer(
        pod=pod.name,
        ip=pod.ip,
        ready=pod.ready,
        version=version_of(pod.images[0]) if pod.images else "",
        digest=reply.digest if reply else None,
        brokers=reply.brokers if reply else None,
        topics=reply.topics if reply else None,
        trouble=pod.trouble,
        silence=sight.failures.get(pod.name, ""),
    )


def _report(world: World, ref: Ref) -> Report | None:
    found: list[Report] = []
    for body in world.reports_of(ref):
        try:
            spec = parse(RouteHealthReport, body).spec
        except SpecError:
            continue
        found.append(Report(spec.verdict, spec.summary, spec.generated_at))
    return max(found, key=lambda each: each.generated_at, default=None)
