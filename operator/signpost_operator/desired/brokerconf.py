"""What tells a broker who it is: broker.conf, or the sidecar's declaration."""

from collections.abc import Mapping

import yaml

from signpost_operator import names
from signpost_operator.resources.broker import Broker

STORE_FOLDER = "/home/rocketmq/store"
HA_PORT = 10912
GROUP_PORTS = 10
"""How many of the nodes' ports a group has."""

_PERMS = {"ReadWrite": 6, "ReadOnly": 4, "WriteOnly": 2}

POD_IP = "$(POD_IP)"
"""Filled in by the sidecar, from its environment."""

Hosts = Mapping[str, str]
"""Where load balancers lead to pods from: host by the pod's name."""


def dns_name(broker: Broker, group: int, ordinal: int) -> str:
    """A pod's stable name."""
    service = names.service_dns(names.brokers(broker.name), broker.namespace)
    return f"{names.pod(broker.name, group, ordinal)}.{service}"


def node_port(broker: Broker, group: int, ordinal: int) -> int:
    """A pod's port on the nodes; 0 when it has none."""
    base = broker.spec.advertise.node_port_base
    return 0 if base is None else base + group * GROUP_PORTS + ordinal


def listen_port(broker: Broker, group: int, ordinal: int) -> int:
    """A RocketMQ broker tells clients the port that it listens on: it must be the node's."""
    if broker.spec.sidecar.mode == "Carry":
        return node_port(broker, group, ordinal) or broker.spec.advertise.port
    return broker.spec.advertise.port


def host(broker: Broker, group: int, ordinal: int, hosts: Hosts) -> str | None:
    """The host that clients are told; None: the pod's own address."""
    match broker.spec.advertise.type:
        case "DNS":
            return dns_name(broker, group, ordinal)
        case "NodePort":
            return broker.spec.advertise.host
        case "LoadBalancer":
            return hosts.get(names.pod(broker.name, group, ordinal))
    return None


def startable(broker: Broker, group: int, hosts: Hosts) -> int:
    """How many pods of a group can start: a broker without its address would tell a wrong one."""
    wanted = broker.spec.replicas_per_group
    if broker.spec.advertise.type != "LoadBalancer":
        return wanted
    known = [names.pod(broker.name, group, ordinal) in hosts for ordinal in range(wanted)]
    return known.index(False) if False in known else wanted


def broker_conf(broker: Broker, group: int, ordinal: int, hosts: Hosts) -> str:
    """The file of one pod."""
    spec, master = broker.spec, ordinal == 0
    synchronous = spec.replication == "Synchronous"
    role = ("SYNC_MASTER" if synchronous else "ASYNC_MASTER") if master else "SLAVE"
    conf: dict[str, object] = {
        **spec.config,
        "brokerClusterName": spec.cluster_name,
        "brokerName": names.group(broker.name, group),
        "brokerId": ordinal,
        "brokerRole": role,
        "namesrvAddr": "127.0.0.1:9876",
        "listenPort": listen_port(broker, group, ordinal),
        "haListenPort": HA_PORT,
        "storePathRootDir": STORE_FOLDER,
        "storePathCommitLog": f"{STORE_FOLDER}/commitlog",
    }
    if told := host(broker, group, ordinal, hosts):
        # Slaves stay inside the cluster, whatever clients are told.
        conf |= {"brokerIP1": told, "brokerIP2": dns_name(broker, group, ordinal)}
    return "".join(f"{key}={_value(value)}\n" for key, value in sorted(conf.items()))


def declaration(broker: Broker, group: int, ordinal: int, hosts: Hosts) -> str:
    """The sidecar's file about one pod, in Declared mode."""
    sidecar, port = broker.spec.sidecar, broker.spec.advertise.port
    told = host(broker, group, ordinal, hosts) or POD_IP
    check = sidecar.health_check
    local = f"{POD_IP}:{check.port or port}"
    health = {"http": f"http://{local}{check.http_path}"} if check.http_path else {"tcp": local}
    topics = [
        {
            "name": topic.name,
            "readQueues": topic.read_queues,
            "writeQueues": topic.write_queues,
            "perm": _PERMS[topic.perm],
        }
        for topic in sidecar.topics
    ]
    entry = {
        "cluster": broker.spec.cluster_name,
        "name": names.group(broker.name, group),
        "id": ordinal,
        "address": f"{told}:{node_port(broker, group, ordinal) or port}",
        "topics": topics,
        "health": health,
    }
    return yaml.safe_dump({"brokers": [entry]}, sort_keys=False)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).replace("\\", "\\\\")
