"""The objects of a NameServerCluster.

Why a Deployment, though each name server keeps a KV file: name servers are alike, and a
StatefulSet would roll them with one fewer all the while, or not at all when a volume's node is
gone. A volume shared by all would have several writers of one file. So the file lives in the
pod; the operator keeps a copy of what all name servers agree on in a ConfigMap, and new pods
start from that copy.
"""

import json
from collections.abc import Iterable, Mapping

from signpost_operator import names
from signpost_operator.resources.broker import Broker
from signpost_operator.resources.nameserver import NameServerCluster

from . import guards, namesrvpod, pods
from .context import Context, Manifest, Owner
from .properties import CONFIG_FILE, HTTP_PORT, KV_FILE, REMOTING_PORT, properties

STUCK_SECONDS = 300
"""A pod that is not ready so long after its warm-up will not be."""


def name_servers(
    cluster: NameServerCluster, context: Context, brokers: Iterable[Broker] = ()
) -> list[Manifest]:
    """Everything but the copy of the KV configuration. `brokers` are those that joined."""
    owner = _owner(cluster)
    name, spec = names.namesrv(cluster.name), cluster.spec
    selector = names.selector(cluster.name, names.NAMESRV)
    text = properties(cluster)
    config = {CONFIG_FILE: text, namesrvpod.EXPECTED: ",".join(expected_brokers(cluster, brokers))}
    return [
        owner.make("v1", "ServiceAccount", name, automountServiceAccountToken=False),
        owner.make("v1", "ConfigMap", name, data=config),
        _headless(owner, selector),
        _clients(owner, cluster, selector),
        *_policy(owner, cluster, context, selector),
        *guards.budget(owner, name, spec.disruption, selector),
        *guards.monitor(
            owner,
            name,
            context,
            spec.monitoring,
            selector,
            ports=[pods.HTTP],
            credentials=_metrics_token(cluster),
        ),
        _deployment(owner, cluster, context, selector, names.digest(text)),
    ]


def expected_brokers(cluster: NameServerCluster, brokers: Iterable[Broker]) -> list[str]:
    """Whom a fresh name server waits for. Not in the pods' hash: a new Broker rolls nothing."""
    groups = [
        f"{broker.spec.cluster_name}/{names.group(broker.name, number)}"
        for broker in brokers
        for number in range(broker.spec.groups)
    ]
    return sorted({*groups, *cluster.spec.warmup.expected_brokers})


def kv_map(cluster: NameServerCluster, text: str) -> Manifest | None:
    """The ConfigMap with a copy of the KV configuration; None when none is wanted.

    It is data. It has no controller, so that it is never pruned, and by default no owner.
    """
    kv = cluster.spec.kv
    if kv.persistence == "None":
        return None
    found = _owner(cluster).make(
        "v1", "ConfigMap", names.namesrv_kv(cluster.name), data={KV_FILE: text}
    )
    metadata = found["metadata"]
    if kv.on_delete == "Retain":
        del metadata["ownerReferences"]
    else:
        metadata["ownerReferences"][0] |= {"controller": False, "blockOwnerDeletion": False}
    return found


def kv_file(table: Mapping[str, Mapping[str, str]]) -> str:
    """The KV configuration in the stock server's format."""
    return json.dumps({"configTable": table}, sort_keys=True, separators=(",", ":"))


def _owner(cluster: NameServerCluster) -> Owner:
    return Owner("NameServerCluster", cluster.name, cluster.namespace, cluster.uid, names.NAMESRV)


def _port(name: str, port: int, node_port: int = 0) -> Manifest:
    found = {"name": name, "port": port, "targetPort": name, "protocol": "TCP"}
    return found | ({"nodePort": node_port} if node_port else {})


def _headless(owner: Owner, selector: Mapping[str, str]) -> Manifest:
    """Gives every name server to sidecars, so that it is warm before it is ready."""
    spec = {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": dict(selector),
        "ports": [_port(pods.REMOTING, REMOTING_PORT), _port(pods.HTTP, HTTP_PORT)],
    }
    return owner.make("v1", "Service", names.namesrv_headless(owner.name), spec=spec)


def _clients(owner: Owner, cluster: NameServerCluster, selector: Mapping[str, str]) -> Manifest:
    given = cluster.spec.exposure
    ports = [_port(pods.REMOTING, given.port, given.node_port)]
    if given.http:
        ports.append(_port(pods.HTTP, given.http_port))
    spec: Manifest = {"type": given.type, "selector": dict(selector), "ports": ports}
    if given.type != "ClusterIP":
        spec["externalTrafficPolicy"] = given.external_traffic_policy
    if given.load_balancer_class:
        spec["loadBalancerClass"] = given.load_balancer_class
    if given.load_balancer_source_ranges:
        spec["loadBalancerSourceRanges"] = list(given.load_balancer_source_ranges)
    name, annotations = names.namesrv(cluster.name), dict(given.annotations)
    return owner.make("v1", "Service", name, annotations=annotations, spec=spec)


def _policy(
    owner: Owner, cluster: NameServerCluster, context: Context, selector: Mapping[str, str]
) -> list[Manifest]:
    given = cluster.spec.network_policy
    if not given.enabled:
        return []
    own: Manifest = {"podSelector": {"matchLabels": dict(selector)}}
    readers = [own, guards.pods_of(names.REPORT), *guards.operator_pods(context)]
    ingress = [
        guards.allow([REMOTING_PORT], guards.peers(given.clients, [guards.pods_of(names.BROKER)])),
        guards.allow([HTTP_PORT], guards.peers(given.http_clients, readers)),
    ]
    egress = [guards.DNS, guards.allow([HTTP_PORT], [own], "to")]
    return [guards.policy(owner, names.namesrv(cluster.name), selector, ingress, egress)]


def _metrics_token(cluster: NameServerCluster) -> Manifest | None:
    access = cluster.spec.access
    if not access.http_reads_need_token or access.http_token_secret is None:
        return None
    return access.http_token_secret.to_dict()


def _deployment(
    owner: Owner,
    cluster: NameServerCluster,
    context: Context,
    selector: Mapping[str, str],
    config_hash: str,
) -> Manifest:
    spec = cluster.spec
    template = pods.template(
        spec,
        labels=names.labels(owner.kind, owner.name, owner.role),
        annotations={names.CONFIG_HASH: config_hash},
        selector=selector,
        spec=namesrvpod.pod(cluster, context),
    )
    return owner.make(
        "apps/v1",
        "Deployment",
        names.namesrv(cluster.name),
        spec={
            "replicas": spec.replicas,
            "revisionHistoryLimit": 3,
            "minReadySeconds": namesrvpod.LEAVING_SECONDS,
            "progressDeadlineSeconds": STUCK_SECONDS + spec.warmup.wait_seconds,
            "selector": {"matchLabels": dict(selector)},
            # One at a time, and an old one goes only when a new one is warm.
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1},
            },
            "template": template,
        },
    )
