"""Broker: groups of RocketMQ brokers that register with one NameServerCluster."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from .brokerparts import Advertise, Sidecar, Storage
from .common import Pods, Resources, Status
from .model import (
    FREE_FORM,
    INT_OR_STRING,
    Labels,
    Model,
    Name,
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
