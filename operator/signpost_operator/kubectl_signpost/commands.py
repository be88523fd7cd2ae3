"""What each command does."""

import argparse
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from signpost_operator import names

from .compare import disagreements, perm_text
from .kubectl import Kubectl, KubectlError
from .table import table

Write = Callable[[str], object]
Object = dict[str, Any]

HTTP_PORT = 8080
MOST = 50
"""Differences that are shown; the rest are counted."""


def status(kubectl: Kubectl, given: argparse.Namespace, write: Write) -> int:
    """Clusters, their name servers and brokers, and what is wrong with them."""
    everywhere = ["--all-namespaces"] if given.all_namespaces else []
    clusters = kubectl.get("nameserverclusters", *everywhere)
    brokers = kubectl.get("brokers", *everywhere)
    shown = [c for c in clusters if given.name in (None, c["metadata"]["name"])]
    if not shown:
        wanted = f"no NameServerCluster {given.name}" if given.name else "no NameServerCluster"
        raise KubectlError(f"there is {wanted} here")
    for cluster in shown:
        write(_cluster_text(cluster))
        for broker in brokers:
            if _joins(broker, cluster):
                write(_broker_text(broker))
        write("\n")
    return 0


def routes(kubectl: Kubectl, given: argparse.Namespace, write: Write) -> int:
    """What every name server tells a client that asks for a topic."""
    namespace, servers = _servers(kubectl, given.cluster)
    path = f"/v1/topics/{quote(given.topic, safe='')}/route"
    answers: dict[str, list[str]] = {}
    for pod in servers:
        answers.setdefault(_route(kubectl, namespace, pod, path), []).append(pod)
    for text, pods in answers.items():
        write(f"{', '.join(pods)}:\n{text}")
    if len(answers) > 1:
        write("The name servers do not agree.\n")
        return 1
    return 0 if "queues" in next(iter(answers)) else 1


def diff(kubectl: Kubectl, given: argparse.Namespace, write: Write) -> int:
    """Which name servers disagree, and where."""
    namespace, servers = _servers(kubectl, given.cluster)
    found = {pod: kubectl.ask(namespace, pod, HTTP_PORT, "/v1/status") for pod in servers}
    rows = [("NAME SERVER", "READY", "DIGEST", "KV", "BROKERS", "TOPICS")]
    for pod, told in found.items():
        counts = told["counts"]
        digests = (told["digest"][:12], told["kv_digest"][:12])
        rows.append((pod, told["ready"], *digests, counts["brokers"], counts["topics"]))
    write(table(rows))
    if len({(told["digest"], told["kv_digest"]) for told in found.values()}) == 1:
        write("\nAll tell the same.\n")
        return 0
    snapshots = {pod: kubectl.ask(namespace, pod, HTTP_PORT, "/v1/snapshot") for pod in servers}
    several = list(disagreements(snapshots))
    if not several:
        write("\nA moment ago they differed; now all tell the same.\n")
        return 0
    write("\n")
    for one in several[:MOST]:
        write(f"{one.table.removesuffix('s')} {one.name}\n")
        write(table([(", ".join(who), text or "unknown") for text, who in one.told.items()], "  "))
    if len(several) > MOST:
        write(f"and {len(several) - MOST} more\n")
    return 1


def drain(kubectl: Kubectl, given: argparse.Namespace, write: Write) -> int:
    """Take a broker out: no new messages, time for producers to see that, then away."""
    pods = _broker_pods(kubectl, given.broker)
    group = pods[0]["metadata"]["labels"][names.GROUP_LABEL]
    if not given.force and not _others_writable(kubectl, group):
        write(f"{group} is the last group that can be written to; --force drains it all the same\n")
        return 1
    # Slaves first: they have nothing to wait for.
    for pod in sorted(pods, key=lambda p: p["metadata"]["name"], reverse=True):
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        write(f"draining {name}; producers are given time to see it\n")
        kubectl.execute(namespace, name, "sidecar", "signpost-sidecar", "drain")
        write(f"{name} has left every name server; when its pod restarts, it comes back\n")
    return 0


def _headline(resource: Object) -> str:
    meta, found = resource["metadata"], resource.get("status") or {}
    story = found.get("summary", "not seen by the operator yet")
    return f"{meta['namespace']}/{meta['name']}: {found.get('ready', '?')} ready, {story}"


def _cluster_text(cluster: Object) -> str:
    found = cluster.get("status") or {}
    lines = [f"NameServerCluster {_headline(cluster)}\n"]
    if internal := (found.get("addresses") or {}).get("internal"):
        lines.append(f"  clients: {internal}\n")
    lines += _bad_conditions(found)
    rows = [
        (e["name"], e.get("address"), "ready" if e.get("ready") else "not ready", e.get("message"))
        for e in found.get("endpoints") or ()
    ]
    return "".join(lines) + table(rows, "  ")


def _broker_text(broker: Object) -> str:
    found = broker.get("status") or {}
    head = f"  Broker {_headline(broker)}\n"
    rows = [
        (g["name"], g.get("phase"), _writable(g), f"known to {g.get('knownTo', '?')}")
        for g in found.get("groupStatus") or ()
    ]
    return head + "".join(_bad_conditions(found, "    ")) + table(rows, "    ")


def _writable(group: Object) -> str:
    return {True: "writable", False: "read-only"}.get(group.get("writable", ""), "")


def _bad_conditions(found: Object, indent: str = "  ") -> list[str]:
    """What is not as it should be."""
    good = {
        "Ready": "True",
        "Degraded": "False",
        "RoutesConsistent": "True",
        "RouteHealthy": "True",
    }
    return [
        f"{indent}{c['type']} is {c['status']} since {c['lastTransitionTime']}: {c['message']}\n"
        for c in found.get("conditions") or ()
        if c["type"] in good and c["status"] not in (good[c["type"]], "Unknown")
    ]


def _joins(broker: Object, cluster: Object) -> bool:
    ref, meta = broker["spec"]["nameServerCluster"], cluster["metadata"]
    where = ref.get("namespace") or broker["metadata"]["namespace"]
    return (where, ref["name"]) == (meta["namespace"], meta["name"])


def _servers(kubectl: Kubectl, cluster: str | None) -> tuple[str, list[str]]:
    """The name servers that can be asked, and their namespace."""
    found = kubectl.get("nameserverclusters", *([cluster] if cluster else []))
    if len(found) != 1:
        listed = ", ".join(c["metadata"]["name"] for c in found) or "none"
        raise KubectlError(f"which NameServerCluster? There is: {listed}; choose by --cluster")
    meta = found[0]["metadata"]
    selector = names.selector_text(names.selector(meta["name"], names.NAMESRV))
    pods = kubectl.get("pods", f"--selector={selector}")
    there = sorted(p["metadata"]["name"] for p in pods if (p.get("status") or {}).get("podIP"))
    if not there:
        raise KubectlError(f"NameServerCluster {meta['name']} has no name server that runs")
    return meta["namespace"], there


def _route(kubectl: Kubectl, namespace: str, pod: str, path: str) -> str:
    """A route as text; why there is none, when there is none."""
    try:
        route = kubectl.ask(namespace, pod, HTTP_PORT, path)
    except KubectlError as error:
        return f"  {str(error).splitlines()[0]}\n"
    addresses = {b["brokerName"]: b["brokerAddrs"] for b in route["brokerDatas"]}
    rows = []
    for queues in sorted(route["queueDatas"], key=lambda q: str(q["brokerName"])):
        name = queues["brokerName"]
        at = ", ".join(f"{n}={a}" for n, a in sorted(addresses.get(name, {}).items()))
        counts = f"{queues['readQueueNums']}/{queues['writeQueueNums']} queues"
        rows.append((name, counts, perm_text(queues["perm"]), at))
    return table(rows, "  ")


def _broker_pods(kubectl: Kubectl, broker: str) -> list[Object]:
    """The pods of a group, or the one pod of that name."""
    found = kubectl.get("pods", f"--selector={names.GROUP_LABEL}={broker}")
    if not found:
        ours = kubectl.get("pods", f"--selector={names.GROUP_LABEL}")
        found = [pod for pod in ours if pod["metadata"]["name"] == broker]
    if not found:
        raise KubectlError(f"there is no broker group and no broker's pod {broker} here")
    return found


def _others_writable(kubectl: Kubectl, group: str) -> bool:
    """Whether producers have another group of the same cluster to write to."""
    brokers = kubectl.get("brokers")
    groups = {g["name"]: (b, g) for b in brokers for g in _groups(b)}
    if group not in groups:
        return True
    cluster = groups[group][0]["spec"]["nameServerCluster"]
    return any(
        g.get("writable")
        for name, (b, g) in groups.items()
        if name != group and b["spec"]["nameServerCluster"] == cluster
    )


def _groups(broker: Object) -> list[Object]:
    found: list[Object] = (broker.get("status") or {}).get("groupStatus") or []
    return found
