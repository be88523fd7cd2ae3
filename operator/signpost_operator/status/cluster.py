"""The status of a NameServerCluster. Pure."""

from collections.abc import Mapping
from typing import Any

from signpost_operator import names
from signpost_operator.facts import ClusterFacts, NameServer, Workload
from signpost_operator.resources.nameserver import NameServerCluster

from .conditions import Finding, Told, conditions, events, listed, previous
from .workload import progressing

_NOTHING = Workload(wanted=0, current=False)


def cluster_status(
    cluster: NameServerCluster, before: Mapping[str, Any], facts: ClusterFacts, now: str
) -> Told:
    """The new status and what to tell about it; `now` in RFC 3339."""
    found = [
        _ready(cluster, facts),
        _progressing(cluster, facts),
        _degraded(cluster, facts),
        _consistent(before, facts),
        _healthy(cluster, facts),
    ]
    workload = facts.workload or _NOTHING
    wanted = cluster.spec.replicas
    versions = sorted({s.version for s in facts.name_servers if s.version})
    known = [s for s in facts.name_servers if s.ready and s.brokers is not None]
    status: dict[str, Any] = {
        "observedGeneration": cluster.generation,
        "replicas": workload.replicas,
        "readyReplicas": workload.ready,
        "updatedReplicas": workload.updated,
        "ready": f"{workload.ready}/{wanted}",
        "selector": names.selector_text(names.selector(cluster.name, names.NAMESRV)),
        "addresses": _addresses(cluster, facts),
        "endpoints": [_endpoint(server) for server in facts.name_servers],
        "conditions": conditions(before, found, cluster.generation, now),
        "summary": _summary(found, facts),
    }
    if versions:
        status["version"] = ", ".join(versions)
    if known:
        status["brokers"] = max(s.brokers or 0 for s in known)
        status["topics"] = max(s.topics or 0 for s in known)
    return Told(status, events(before, found, facts.changes))


def _ready(cluster: NameServerCluster, facts: ClusterFacts) -> Finding:
    wanted, workload = cluster.spec.replicas, facts.workload or _NOTHING
    said = f"{workload.ready} of {wanted} name servers are ready"
    if wanted == 0:
        return Finding("Ready", "False", "ScaledToZero", "no name server is wanted")
    if facts.workload is None:
        return Finding("Ready", "False", "NotCreated", "there are no name servers yet")
    # An old generation's readiness says nothing about this one.
    if workload.ready < wanted or not workload.current:
        return Finding("Ready", "False", "NotAllReady", said)
    return Finding("Ready", "True", "AllReady", said)


def _progressing(cluster: NameServerCluster, facts: ClusterFacts) -> Finding:
    if facts.paused:
        message = f"changes are off: annotation {names.PAUSED} is true"
        return Finding("Progressing", "False", "Paused", message)
    return progressing(facts.workload, cluster.spec.replicas, "name servers")


def _degraded(cluster: NameServerCluster, facts: ClusterFacts) -> Finding:
    if facts.failure:
        return Finding("Degraded", "True", facts.failure.reason, facts.failure.message)
    troubles = [f"{s.pod}: {s.trouble}" for s in facts.name_servers if s.trouble]
    if troubles:
        return Finding("Degraded", "True", "PodsFailing", listed(troubles))
    workload = facts.workload or _NOTHING
    if workload.stuck:
        return Finding("Degraded", "True", "RolloutStuck", workload.stuck)
    silent = [f"{s.pod}: {s.silence}" for s in facts.name_servers if s.ready and s.silence]
    if silent:
        return Finding("Degraded", "True", "NotAnswering", listed(silent))
    return Finding("Degraded", "False", "Sound", "nothing is wrong")


def _consistent(before: Mapping[str, Any], facts: ClusterFacts) -> Finding:
    kind, ready = "RoutesConsistent", sum(s.digest is not None for s in facts.name_servers)
    match facts.agreement:
        case "same":
            servers = "one name server" if ready == 1 else f"all {ready} name servers"
            return Finding(kind, "True", "Agree", f"{servers} tell the same routes")
        case "differ":
            return Finding(kind, "False", "Disagree", _difference(facts))
        case "settling" if last := previous(before, kind):
            # A change is on its way: what was true is until it has lasted.
            return Finding(kind, last["status"], last["reason"], last["message"])
        case "settling":
            return Finding(kind, "Unknown", "Settling", "a change is on its way to all of them")
    silent = [f"{s.pod}: {s.silence}" for s in facts.name_servers if s.silence]
    why = f": {listed(silent)}" if silent else ""
    return Finding(kind, "Unknown", "NotAsked", f"no name server could be asked{why}")


def _difference(facts: ClusterFacts) -> str:
    parts = []
    if facts.differing_topics:
        parts.append(f"topics {listed(facts.differing_topics)}")
    if facts.differing_brokers:
        parts.append(f"brokers {listed(facts.differing_brokers)}")
    return f"name servers disagree about {' and '.join(parts) or 'their routes'}"


def _healthy(cluster: NameServerCluster, facts: ClusterFacts) -> Finding:
    kind, report = "RouteHealthy", facts.report
    if report is not None:
        healthy = report.verdict == "Healthy"
        message = f"{report.summary or report.verdict} (report of {report.generated_at})"
        return Finding(kind, "True" if healthy else "False", report.verdict, message)
    if cluster.spec.report is None:
        return Finding(kind, "Unknown", "NoReport", "no report is asked for: see spec.report")
    return Finding(kind, "Unknown", "Awaited", "no report has been made yet")


def _addresses(cluster: NameServerCluster, facts: ClusterFacts) -> dict[str, str]:
    given = cluster.spec.exposure
    service = names.service_dns(names.namesrv(cluster.name), cluster.namespace)
    found = {"internal": f"{service}:{given.port}"}
    if facts.external:
        found["external"] = facts.external
    if given.http:
        http = f"http://{service}:{given.http_port}"
        found |= {"http": http, "addressServer": f"{http}/rocketmq/nsaddr"}
    return found


def _endpoint(server: NameServer) -> dict[str, Any]:
    found = {
        "name": server.pod,
        "address": f"{server.ip}:9876" if server.ip else "",
        "ready": server.ready,
        "version": server.version or None,
        "digest": server.digest,
        "brokers": server.brokers,
        "topics": server.topics,
        "message": server.trouble or server.silence or None,
    }
    return {key: value for key, value in found.items() if value is not None}


def _summary(found: list[Finding], facts: ClusterFacts) -> str:
    """The worst thing first."""
    by = {finding.type: finding for finding in found}
    degraded, consistent, healthy = by["Degraded"], by["RoutesConsistent"], by["RouteHealthy"]
    if degraded.status == "True":
        text = degraded.message
    elif consistent.status == "False":
        text = consistent.message
    elif by["Progressing"].status == "True":
        text = by["Progressing"].message
    elif by["Ready"].status != "True":
        text = by["Ready"].message
    elif healthy.status == "False":
        text = healthy.message
    else:
        text = "serving"
    text = f"paused; {text}" if facts.paused else text
    return text if len(text) <= 120 else text[:117] + "..."
