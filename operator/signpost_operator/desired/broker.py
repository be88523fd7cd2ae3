"""The objects of a Broker: one StatefulSet for each group, whose pods' numbers are brokerIds."""

from collections.abc import Mapping

from signpost_operator import names
from signpost_operator.resources.broker import Broker
from signpost_operator.resources.nameserver import NameServerCluster

from . import brokerconf, brokerpod, guards, pods, sidecar
from .brokerconf import Hosts
from .context import Context, Manifest, Owner


def refusal(broker: Broker, cluster: NameServerCluster) -> str:
    """Why a Broker cannot join a cluster, as a sentence; empty when it can."""
    where, allowed = broker.namespace, cluster.spec.access.broker_namespaces
    if where != cluster.namespace and not {"*", where} & set(allowed):
        return (
            f"NameServerCluster {cluster.namespace}/{cluster.name} does not let Brokers of "
            f"namespace {where} in: add it to the cluster's access.brokerNamespaces"
        )
    tls, given = cluster.spec.tls, broker.spec.sidecar.tls_secret_name
    if tls and tls.mode == "Enforcing" and not given and where != cluster.namespace:
        return (
            f"NameServerCluster {cluster.namespace}/{cluster.name} takes only TLS: set "
            "sidecar.tlsSecretName to a Secret with its ca.crt"
        )
    if tls and tls.client_auth == "Require" and tls.mode == "Enforcing" and not given:
        return (
            f"NameServerCluster {cluster.name} wants certificates of its clients: set "
            "sidecar.tlsSecretName to a Secret with tls.crt, tls.key and ca.crt"
        )
    return ""


def brokers(
    broker: Broker,
    cluster: NameServerCluster,
    context: Context,
    hosts: Hosts,
) -> list[Manifest]:
    """Everything. `hosts`: where load balancers lead to pods from, as far as it is known."""
    owner = Owner("Broker", broker.name, broker.namespace, broker.uid, names.BROKER)
    name, spec = names.brokers(broker.name), broker.spec
    selector = names.selector(broker.name, names.BROKER)
    found = [
        owner.make("v1", "ServiceAccount", name, automountServiceAccountToken=False),
        *_discovery_rights(owner, cluster, broker),
        _headless(owner, name, broker, selector),
        *_policy(owner, name, broker, context, selector),
        *guards.budget(owner, name, spec.disruption, selector),
        *guards.monitor(owner, name, context, spec.monitoring, selector, ports=[pods.HTTP]),
    ]
    for group in range(spec.groups):
        found += [
            _config(owner, broker, group, hosts),
            *_pod_services(owner, broker, group),
            _stateful_set(owner, broker, cluster, context, group, hosts),
        ]
    return found


def _headless(owner: Owner, name: str, broker: Broker, selector: Mapping[str, str]) -> Manifest:
    """Gives each pod its name, ready or not: slaves look for a master that is starting."""
    port = broker.spec.advertise.port
    spec = {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": dict(selector),
        "ports": [{"name": "broker", "port": port, "targetPort": port, "protocol": "TCP"}],
    }
    return owner.make("v1", "Service", name, spec=spec)


def _discovery_rights(owner: Owner, cluster: NameServerCluster, broker: Broker) -> list[Manifest]:
    if broker.spec.sidecar.discovery != "EndpointSlices":
        return []
    name, group = names.brokers(broker.name), "rbac.authorization.k8s.io"
    rules = [
        {
            "apiGroups": ["discovery.k8s.io"],
            "resources": ["endpointslices"],
            "verbs": ["list", "watch"],
        }
    ]
    subject = {"kind": "ServiceAccount", "name": name, "namespace": broker.namespace}
    role = {"apiGroup": group, "kind": "Role", "name": name}
    return [
        owner.make(f"{group}/v1", "Role", name, rules=rules),
        owner.make(f"{group}/v1", "RoleBinding", name, subjects=[subject], roleRef=role),
    ]


def _policy(
    owner: Owner, name: str, broker: Broker, context: Context, selector: Mapping[str, str]
) -> list[Manifest]:
    given = broker.spec.network_policy
    if not given.enabled:
        return []
    own: Manifest = {"podSelector": {"matchLabels": dict(selector)}}
    readers = guards.operator_pods(context)
    ingress = [
        guards.allow(_client_ports(broker), guards.peers(given.clients, [own])),
        guards.allow([brokerconf.HA_PORT], [own]),
        guards.allow([sidecar.HTTP_PORT], guards.peers(given.http_clients, readers)),
    ]
    return [guards.policy(owner, name, selector, ingress)]


def _client_ports(broker: Broker) -> list[int | tuple[int, int]]:
    given = broker.spec.advertise
    if given.node_port_base is None or broker.spec.sidecar.mode == "Declared":
        return [given.port]
    last = given.node_port_base + max(broker.spec.groups, 1) * brokerconf.GROUP_PORTS - 1
    return [(given.node_port_base, last)]


def _config(owner: Owner, broker: Broker, group: int, hosts: Hosts) -> Manifest:
    ordinals = range(broker.spec.replicas_per_group)
    if broker.spec.sidecar.mode == "Declared":
        data = {
            f"declared-{n}.yaml": brokerconf.declaration(broker, group, n, hosts) for n in ordinals
        }
    else:
        data = {
            f"broker-{n}.conf": brokerconf.broker_conf(broker, group, n, hosts) for n in ordinals
        }
    return owner.make("v1", "ConfigMap", names.group(broker.name, group), data=data)


def _pod_services(owner: Owner, broker: Broker, group: int) -> list[Manifest]:
    """One for each pod, for clients outside the cluster."""
    given = broker.spec.advertise
    if given.type not in ("NodePort", "LoadBalancer"):
        return []
    found = []
    for ordinal in range(broker.spec.replicas_per_group):
        pod = names.pod(broker.name, group, ordinal)
        target, node = (
            brokerconf.listen_port(broker, group, ordinal),
            brokerconf.node_port(broker, group, ordinal),
        )
        port: Manifest = {
            "name": "broker",
            "port": node or target,
            "targetPort": target,
            "protocol": "TCP",
        }
        spec: Manifest = {
            "type": given.type,
            "selector": {names.POD_NAME: pod},
            "ports": [port | ({"nodePort": node} if node else {})],
        }
        if given.load_balancer_class:
            spec["loadBalancerClass"] = given.load_balancer_class
        annotations = dict(given.annotations)
        found.append(owner.make("v1", "Service", pod, annotations=annotations, spec=spec))
    return found


def _stateful_set(
    owner: Owner,
    broker: Broker,
    cluster: NameServerCluster,
    context: Context,
    group: int,
    hosts: Hosts,
) -> Manifest:
    storage = broker.spec.storage
    selector = names.group_selector(broker.name, group)
    spec: Manifest = {
        "replicas": brokerconf.startable(broker, group, hosts),
        "serviceName": names.brokers(broker.name),
        # A slave may start before its master: it waits for it by itself.
        "podManagementPolicy": "Parallel",
        "updateStrategy": {"type": "RollingUpdate"},
        "minReadySeconds": 5,
        "revisionHistoryLimit": 3,
        "selector": {"matchLabels": selector},
        "template": brokerpod.template(owner, broker, cluster, context, group, hosts),
    }
    if storage.type == "Volume":
        spec["persistentVolumeClaimRetentionPolicy"] = {
            "whenDeleted": storage.on_delete,
            "whenScaled": storage.on_scale_down,
        }
        claim: Manifest = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": storage.size}},
        }
        if storage.storage_class_name:
            claim["storageClassName"] = storage.storage_class_name
        # Labels of claims can never change: only the selector's, which cannot either.
        spec["volumeClaimTemplates"] = [
            {"metadata": {"name": brokerpod.STORE, "labels": selector}, "spec": claim}
        ]
    name = names.group(broker.name, group)
    return owner.make("apps/v1", "StatefulSet", name, labels={names.GROUP_LABEL: name}, spec=spec)
