"""Parts of a Broker: where it keeps messages, what it advertises, its sidecar."""

from typing import Annotated, Literal

from pydantic import Field

from .common import Resources
from .model import Labels, Model, ObjectName, Port, Quantity, Rule, Schema, Text


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
