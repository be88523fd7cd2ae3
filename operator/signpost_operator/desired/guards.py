"""Objects that stand around pods: budgets, network policies, monitors."""

from collections.abc import Mapping, Sequence
from typing import Any

from signpost_operator import names
from signpost_operator.resources.common import Disruption, Monitoring, Peer

from .context import Context, Manifest, Owner

MONITORING_API = "monitoring.coreos.com"


def budget(
    owner: Owner, name: str, disruption: Disruption, selector: Mapping[str, str]
) -> list[Manifest]:
    """A PodDisruptionBudget. A pod that is not ready never holds up a node's drain."""
    if not disruption.enabled:
        return []
    spec = {
        "maxUnavailable": disruption.max_unavailable,
        "selector": {"matchLabels": dict(selector)},
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }
    return [owner.make("policy/v1", "PodDisruptionBudget", name, spec=spec)]


def policy(
    owner: Owner,
    name: str,
    selector: Mapping[str, str],
    ingress: Sequence[Manifest],
    egress: Sequence[Manifest] | None = None,
) -> Manifest:
    """A NetworkPolicy; without egress rules, pods may connect to everything."""
    spec: Manifest = {
        "podSelector": {"matchLabels": dict(selector)},
        "policyTypes": ["Ingress"] if egress is None else ["Ingress", "Egress"],
        "ingress": list(ingress),
    }
    if egress is not None:
        spec["egress"] = list(egress)
    return owner.make("networking.k8s.io/v1", "NetworkPolicy", name, spec=spec)


def allow(
    ports: Sequence[int | tuple[int, int]], peers: Sequence[Manifest] = (), way: str = "from"
) -> Manifest:
    """A rule of a policy, for ports and ranges of them; without peers, for everybody."""
    rule: Manifest = {
        "ports": [
            {"port": port[0], "endPort": port[1], "protocol": "TCP"}
            if isinstance(port, tuple)
            else {"port": port, "protocol": "TCP"}
            for port in ports
        ]
    }
    return rule | ({way: list(peers)} if peers else {})


DNS: Manifest = {
    "ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}],
}


def peers(given: Sequence[Peer], always: Sequence[Manifest]) -> list[Manifest]:
    """Whom a rule lets in: everybody when nobody is given, or them and those who always may."""
    return [*(_peer(peer) for peer in given), *always] if given else []


def _peer(given: Peer) -> Manifest:
    """Without what is empty inside; an empty selector stands for everything and stays."""
    return {
        name: {key: value for key, value in part.items() if value}
        for name, part in given.to_dict().items()
    }


def pods_of(role: str) -> Manifest:
    """Our own pods of a role, in every namespace."""
    labels = {"app.kubernetes.io/part-of": "signpost", names.ROLE: role}
    return {"namespaceSelector": {}, "podSelector": {"matchLabels": labels}}


def operator_pods(context: Context) -> list[Manifest]:
    """The operator, which compares name servers over HTTP."""
    if not context.operator_namespace:
        return []
    where = {"kubernetes.io/metadata.name": context.operator_namespace}
    return [{"namespaceSelector": {"matchLabels": where}}]


def monitor(
    owner: Owner,
    name: str,
    context: Context,
    monitoring: Monitoring,
    selector: Mapping[str, str],
    *,
    ports: Sequence[str],
    credentials: Manifest | None = None,
) -> list[Manifest]:
    """A PodMonitor, when it is asked for and the cluster knows that kind."""
    if not monitoring.pod_monitor or MONITORING_API not in context.apis:
        return []
    endpoints: list[dict[str, Any]] = [
        {"port": port, "path": "/metrics", "interval": monitoring.interval} for port in ports
    ]
    if credentials:
        for endpoint in endpoints:
            endpoint["authorization"] = {"credentials": credentials}
    return [
        owner.make(
            f"{MONITORING_API}/v1",
            "PodMonitor",
            name,
            labels=dict(monitoring.labels),
            spec={"selector": {"matchLabels": dict(selector)}, "podMetricsEndpoints": endpoints},
        )
    ]
