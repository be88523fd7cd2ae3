"""Broker: groups of RocketMQ brokers that register with one NameServerCluster."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from .common import Pods, Resources, Status
from .model import (
    FREE_FORM,
    INT_OR_STRING,
    Labels,
    Model,
    Name,
    ObjectName,
    Port,
    Quantity,
    Rule,
    Schema,
    Text,
)

OWNED_KEYS = {
    "brokerName": "the name of the Broker and the group's number",
    "brokerId": "the pod's number",
    "brokerClusterName": "set clusterName",
    "namesrvAddr": "the sidecar's address",
    "rocketmqHome": "the image's",
    "brokerIP1": "see advertise",
    "brokerIP2": "see advertise",
    "listenPort": "see advertise",
    "haListenPort": "always 10912",
    "storePathRootDir": "see storage",
    "storePathCommitLog": "see storage",
    "brokerRole": "set replication",
}
"""Keys of broker.conf that the operator writes, and where they come from."""

_KEY = re.compile(r"[a-zA-Z][a-zA-Z0-9._]*")


def _owned_message(key: str) -> str:
    return f"{key} is set by the operator: {OWNED_KEYS[key]}"


def _check_conf(conf: dict[str, Any]) -> dict[str, Any]:
    problems = [_owned_message(key) for key in conf if key in OWNED_KEYS]
    problems += [f"{key!r} is no key of broker.conf" for key in conf if not _KEY.fullmatch(key)]
    problems += [f"{key}: a value is one line" for key, value in conf.items() if "\n" in str(value)]
    if problems:
        raise ValueError("; ".join(problems))
    return conf


BrokerConf = Annotated[
    dict[str, bool | int | float | str],
    AfterValidator(_check_conf),
    Schema(
        {
            "type": "object",
            # Declared so that the rules can see them.
            "properties": {
                key: {INT_OR_STRING: True, "description": f"Not to be set: {why}."}
                for key, why in sorted(OWNED_KEYS.items())
            },
            FREE_FORM: True,
        }
    ),
    *(Rule(f"!has(self.{key})", _owned_message(key)) for key in OWNED_KEYS),
]


class ClusterRef(Model):
    """The NameServerCluster that the brokers register with."""

    name: Name = Field(description="Its name.")
    namespace: Name | None = Field(
        default=None,
        description="Its namespace; none: this one. Another one must list this namespace in its "
        "access.brokerNamespaces.",
    )

    rules = (
        Rule(
            "self == oldSelf",
            "a Broker stays with its NameServerCluster: make another Broker, then drain this one",
        ),
    )


class Storage(Model):
    """Where messages are kept."""

    type: Literal["Volume", "Ephemeral"] = Field(
        default="Volume",
        description="Volume: one for each pod, which outlives it. Ephemeral: gone with the pod.",
    )
    size: Quantity = Field(default="20Gi", description="Of each volume. It can only grow.")
    storage_class_name: ObjectName | None = Field(
        default=None, description="The volumes' StorageClass; none: the cluster's default."
    )
    on_delete: Literal["Retain", "Delete"] = Field(
        default="Retain", description="What happens to the volumes when the Broker is deleted."
    )
    on_scale_down: Literal["Retain", "Delete"] = Field(
        default="Retain", description="What happens to the volumes of brokers that are taken away."
    )

    rules = (
        Rule(
            "self.type == oldSelf.type && (has(self.storageClassName) == "
            "has(oldSelf.storageClassName)) && (!has(self.storageClassName) || "
            "self.storageClassName == oldSelf.storageClassName)",
            "messages cannot be moved to other storage: make another Broker, then drain this one",
        ),
        Rule(
            "quantity(string(self.size)).compareTo(quantity(string(oldSelf.size))) >= 0",
            "volumes can only grow: give a size that is not smaller than before",
        ),
    )


class Advertise(Model):
    """The address under which clients find each broker."""

    type: Literal["PodIP", "DNS", "NodePort", "LoadBalancer"] = Field(
        default="PodIP",
        description="PodIP, or DNS (a stable name): inside the cluster. NodePort, LoadBalancer: "
        "a Service for each pod, for clients outside.",
    )
    port: Port = Field(default=10911, description="The port that each broker listens on.")
    node_port_base: Annotated[int, Field(ge=1024, le=65000)] | None = Field(
        default=None,
        description="With NodePort: the first of the nodes' ports. Each group takes ten, its pods "
        "one each; a broker listens on the same number, for clients are told only that.",
    )
    host: Text | None = Field(
        default=None,
        description="With NodePort: a name or an address that leads to the nodes from outside.",
    )
    annotations: Labels = Field(
        default={}, description="Of the pods' Services, for load balancers and DNS controllers."
    )
    load_balancer_class: Text | None = Field(
        default=None, description="Which controller makes the load balancers."
    )

    rules = (
        Rule(
            "self.type != 'NodePort' || has(self.host)",
            "NodePort needs host: a name or an address that leads to the nodes from outside",
            lambda m: m.type != "NodePort" or m.host is not None,
            "host",
        ),
        Rule(
            "self.type == 'NodePort' || !has(self.host)",
            "host is only for NodePort: the other types know their addresses",
            lambda m: m.type == "NodePort" or m.host is None,
            "host",
        ),
        Rule(
            "has(self.nodePortBase) == (self.type == 'NodePort')",
            "nodePortBase belongs to NodePort: the first of the nodes' ports, such as 30100",
            lambda m: (m.node_port_base is not None) == (m.type == "NodePort"),
            "nodePortBase",
        ),
        Rule(
            "!has(self.loadBalancerClass) || self.type == 'LoadBalancer'",
            "loadBalancerClass needs type LoadBalancer",
            lambda m: m.load_balancer_class is None or m.type == "LoadBalancer",
            "loadBalancerClass",
        ),
    )


class Topic(Model):
    """A topic of a broker that cannot register itself."""

    name: Annotated[str, Field(pattern=r"^[%|a-zA-Z0-9_-]+$", min_length=1, max_length=127)] = (
        Field(description="Its name.")
    )
    read_queues: int = Field(default=4, ge=0, le=65535, description="Queues to read from.")
    write_queues: int = Field(default=4, ge=0, le=65535, description="Queues to write to.")
    perm: Literal["ReadWrite", "ReadOnly", "WriteOnly"] = Field(
        default="ReadWrite", description="What clients may do."
    )


class HealthCheck(Model):
    """How the sidecar knows that the broker is well; by default, that it accepts connections."""

    port: Port | None = Field(default=None, description="Another port to connect to.")
    http_path: Annotated[str, Field(pattern=r"^/", max_length=1024)] | None = Field(
        default=None, description="Ask for this path there, instead of only connecting."
    )


class Sidecar(Model):
    """The container that tells every name server of the broker."""

    mode: Literal["Carry", "Declared"] = Field(
        default="Carry",
        description="Carry: the broker registers with the sidecar, which carries it on. "
        "Declared: for a program that cannot register itself; the sidecar speaks for it.",
    )
    topics: Annotated[
        tuple[Topic, ...],
        Schema({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}),
    ] = Field(default=(), max_length=1000, description="The topics, in Declared mode.")
    health_check: HealthCheck = Field(
        default=HealthCheck(), description="How it knows that the broker is well, when Declared."
    )
    beat_seconds: int = Field(
        default=30, ge=10, le=60, description="Between heartbeats, in Declared mode."
    )
    drain_seconds: int = Field(
        default=35,
        ge=0,
        le=600,
        description="How long producers have to see that a broker leaves; they look every 30 s.",
    )
    image: Text | None = Field(
        default=None, description="Its image; none: the one of the name servers."
    )
    resources: Resources = Field(
        default=Resources(requests={"cpu": "20m", "memory": "64Mi"}, limits={"memory": "256Mi"}),
        description="What it asks for, and what it may take.",
    )
    tls_secret_name: ObjectName | None = Field(
        default=None,
        description="Secret with ca.crt, to know the name servers by, and with tls.crt and tls.key "
        "when they want a certificate; needed when their TLS is Enforcing.",
    )
    discovery: Literal["DNS", "EndpointSlices"] = Field(
        default="DNS",
        description="How it finds name servers. EndpointSlices is quicker by some seconds, and "
        "gives the pods a right to read them in the NameServerCluster's namespace.",
    )

    rules = (
        Rule(
            "self.mode == 'Declared' || size(self.topics) == 0",
            "topics are only for mode Declared: in mode Carry the broker tells its own",
            lambda m: m.mode == "Declared" or not m.topics,
            "topics",
        ),
        Rule(
            "self.mode != 'Declared' || size(self.topics) > 0",
            "mode Declared needs topics",
            lambda m: m.mode != "Declared" or bool(m.topics),
            "topics",
        ),
    )


class EnvVar(Model):
    """A variable of the broker's environment."""

    name: Annotated[str, Field(pattern=r"^[-._a-zA-Z][-._a-zA-Z0-9]*$", max_length=253)] = Field(
        description="Its name."
    )
    value: str = Field(default="", max_length=8192, description="Its value.")


Words = tuple[Annotated[str, Field(max_length=4096)], ...]


class BrokerSpec(Pods):
    """What is wanted."""

    name_server_cluster: ClusterRef = Field(
        description="The NameServerCluster that the brokers register with."
    )
    cluster_name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$", max_length=127)] = Field(
        default="DefaultCluster",
        description="RocketMQ's name of the cluster. Several Brokers may share it.",
    )
    groups: int = Field(
        default=1,
        ge=0,
        le=100,
        description="Groups of brokers. Each holds a share of every topic's queues.",
    )
    replicas_per_group: int = Field(
        default=1, ge=1, le=10, description="Brokers of a group: the first is the master."
    )
    replication: Literal["Asynchronous", "Synchronous"] = Field(
        default="Asynchronous",
        description="Whether a message is acknowledged before a slave has it.",
    )
    image: Text = Field(default="apache/rocketmq:5.3.3", description="Image of the broker.")
    command: Words = Field(
        default=(),
        max_length=64,
        description="What is run, in mode Declared; none: the image's own.",
    )
    args: Words = Field(default=(), max_length=64, description="Its arguments, in mode Declared.")
    env: Annotated[
        tuple[EnvVar, ...],
        Schema({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}),
    ] = Field(default=(), max_length=128, description="Variables of the broker's environment.")
    java_options: Annotated[str, Field(max_length=4096)] = Field(
        default="-Xms512m -Xmx512m -Xmn256m",
        description="Options of the Java machine; the memory limit must leave room beside them.",
    )
    config: BrokerConf = Field(
        default={}, description="Keys of broker.conf, such as flushDiskType: SYNC_FLUSH."
    )
    resources: Resources = Field(
        default=Resources(requests={"cpu": "250m", "memory": "1Gi"}, limits={"memory": "2Gi"}),
        description="What each broker asks for, and what it may take.",
    )
    storage: Storage = Field(default=Storage(), description="Where messages are kept.")
    advertise: Advertise = Field(
        default=Advertise(), description="The address under which clients find each broker."
    )
    sidecar: Sidecar = Field(
        default=Sidecar(), description="The container that tells every name server of the broker."
    )
    stop_seconds: int = Field(
        default=60,
        ge=1,
        le=3600,
        description="How long a broker may take to write everything down, after it was drained.",
    )

    rules = (
        Rule(
            "self.clusterName == oldSelf.clusterName",
            "clusterName cannot change: clients know it. Make another Broker, then drain this one",
            None,
            "clusterName",
        ),
        Rule(
            "self.sidecar.discovery == 'DNS' || !has(self.nameServerCluster.__namespace__)",
            "EndpointSlices are read in this namespace only: leave nameServerCluster.namespace "
            "out, or use DNS",
            lambda m: m.sidecar.discovery == "DNS" or m.name_server_cluster.namespace is None,
            "sidecar.discovery",
        ),
        Rule(
            "self.sidecar.mode == 'Declared' || size(self.command) == 0",
            "command is for mode Declared: a RocketMQ broker is started by the operator",
            lambda m: m.sidecar.mode == "Declared" or not m.command,
            "command",
        ),
    )


class GroupStatus(Model):
    """One group as the operator last saw it."""

    name: str = Field(description="The brokerName.")
    replicas: int = Field(default=0, description="Brokers wanted.")
    ready_replicas: int = Field(default=0, description="Brokers that are ready.")
    phase: Literal["Starting", "Serving", "Updating", "Draining", "Stopped", "Failing"] = Field(
        default="Starting", description="What it is doing."
    )
    writable: bool | None = Field(default=None, description="Whether producers may use it.")
    known_to: str | None = Field(
        default=None, description="How many of the name servers know it, such as 3/3."
    )
    addresses: tuple[str, ...] = Field(
        default=(), max_length=10, description="Where clients find its brokers, in order of id."
    )
    message: str | None = Field(default=None, description="What is the matter with it.")


class BrokerStatus(Status):
    """What is true now."""

    groups: int = Field(default=0, description="Groups that exist.")
    ready_groups: int = Field(default=0, description="Groups with all brokers ready.")
    ready: str | None = Field(default=None, description="Ready brokers of wanted, for one line.")
    selector: str | None = Field(default=None, description="Of the pods, for autoscalers.")
    version: str | None = Field(default=None, description="The image's version.")
    group_status: Annotated[
        tuple[GroupStatus, ...],
        Schema({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}),
    ] = Field(default=(), description="Each group as the operator last saw it.")


class Broker(Model):
    """Groups of RocketMQ brokers that register with one NameServerCluster."""

    name: Name
    namespace: Name
    spec: BrokerSpec
    generation: int = 0
    uid: str = ""
    annotations: Labels = Field(default={})
