"""Parts that name servers and brokers share."""

from typing import Annotated, Literal

from pydantic import Field

from .model import (
    CountOrShare,
    FreeForm,
    Labels,
    Model,
    ObjectName,
    Quantity,
    Rule,
    Schema,
    Text,
)


class Resources(Model):
    """What a container asks for, and what it may take."""

    requests: dict[str, Quantity] = Field(
        default={}, description="Reserved for the container: cpu, memory."
    )
    limits: dict[str, Quantity] = Field(
        default={}, description="The most that it may take: cpu, memory."
    )


class Toleration(Model):
    """A taint that the pods do not mind."""

    key: str | None = Field(default=None, description="The taint's key; none: every taint.")
    operator: Literal["Exists", "Equal"] = Field(
        default="Equal", description="Whether the taint's value matters."
    )
    value: str | None = Field(default=None, description="The taint's value, for Equal.")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = Field(
        default=None, description="The taint's effect; none: all of them."
    )
    toleration_seconds: int | None = Field(
        default=None, description="How long NoExecute is borne; none: for ever."
    )


class TopologySpread(Model):
    """How evenly pods are spread over zones or nodes. The operator selects the pods."""

    topology_key: Text = Field(
        description="Label of the nodes, such as topology.kubernetes.io/zone."
    )
    max_skew: int = Field(default=1, ge=1, description="The largest difference between two places.")
    when_unsatisfiable: Literal["DoNotSchedule", "ScheduleAnyway"] = Field(
        default="ScheduleAnyway", description="What happens to a pod that cannot be spread so."
    )


class Placement(Model):
    """Which nodes the pods may run on, and how they share them."""

    node_selector: Labels = Field(default={}, description="Labels that a node must have.")
    tolerations: tuple[Toleration, ...] = Field(
        default=(), max_length=64, description="Taints that the pods do not mind."
    )
    affinity: FreeForm = Field(
        default={}, description="Kubernetes' own affinity, passed on as it is."
    )
    topology_spread: tuple[TopologySpread, ...] = Field(
        default=(
            TopologySpread(topology_key="topology.kubernetes.io/zone"),
            TopologySpread(topology_key="kubernetes.io/hostname"),
        ),
        max_length=8,
        description="Spread over zones and nodes; by default both, as well as it can be done.",
    )
    priority_class_name: ObjectName | None = Field(
        default=None, description="The pods' PriorityClass."
    )


class Disruption(Model):
    """What node drains and the like may take away at a time."""

    enabled: bool = Field(default=True, description="Make a PodDisruptionBudget.")
    max_unavailable: CountOrShare = Field(
        default=1, description="Pods that may be away at once: a number, or a share such as 25%."
    )


class Monitoring(Model):
    """Metrics for the Prometheus operator."""

    pod_monitor: bool = Field(
        default=False, description="Make a PodMonitor, when the cluster has that kind."
    )
    interval: Annotated[str, Field(pattern=r"^[1-9][0-9]*(s|m)$", max_length=8)] = Field(
        default="30s", description="How often metrics are read."
    )
    labels: Labels = Field(
        default={}, description="Labels that your Prometheus selects PodMonitors by."
    )


class LabelExpression(Model):
    """A condition on a label."""

    key: Text = Field(description="The label.")
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"] = Field(description="The test.")
    values: tuple[str, ...] = Field(default=(), max_length=64, description="For In and NotIn.")


class LabelSelector(Model):
    """Objects chosen by their labels; empty: all of them."""

    match_labels: Labels = Field(default={}, description="Labels that must be equal.")
    match_expressions: tuple[LabelExpression, ...] = Field(
        default=(), max_length=16, description="Further conditions."
    )


class IpBlock(Model):
    """A range of addresses."""

    cidr: Text = Field(description="The range, such as 10.0.0.0/8.")
    except_: tuple[Text, ...] = Field(
        default=(), alias="except", max_length=64, description="Ranges within it that do not count."
    )


class Peer(Model):
    """Somebody who may connect."""

    pod_selector: LabelSelector | None = Field(default=None, description="Pods by their labels.")
    namespace_selector: LabelSelector | None = Field(
        default=None, description="Namespaces by their labels; none: this one."
    )
    ip_block: IpBlock | None = Field(
        default=None, description="Addresses, for peers outside the cluster."
    )

    rules = (
        Rule(
            "!has(self.ipBlock) || (!has(self.podSelector) && !has(self.namespaceSelector))",
            "ipBlock stands alone: write pods and addresses as two entries",
            lambda m: not (m.ip_block and (m.pod_selector or m.namespace_selector)),
            "ipBlock",
        ),
    )


class NetworkPolicy(Model):
    """Who may connect to the pods. Enforced only where the cluster's network does so."""

    enabled: bool = Field(default=True, description="Make a NetworkPolicy.")
    clients: tuple[Peer, ...] = Field(
        default=(), max_length=64, description="Who may use the remoting port; empty: everybody."
    )
    http_clients: tuple[Peer, ...] = Field(
        default=(),
        max_length=64,
        description="Who may use the HTTP port; empty: everybody. Probes always may; name the "
        "operator's namespace, or it cannot compare the name servers.",
    )


class PullSecret(Model):
    """A Secret with the registry's password."""

    name: ObjectName = Field(description="Name of the Secret, in this namespace.")


class PodMeta(Model):
    """Labels and annotations of the pods."""

    labels: Labels = Field(default={}, description="Further labels.")
    annotations: Labels = Field(default={}, description="Further annotations.")


class PodTemplate(Model):
    """Laid over the operator's own pod template, for what has no field of its own."""

    metadata: PodMeta = Field(default=PodMeta(), description="Labels and annotations of the pods.")
    spec: FreeForm = Field(
        default={},
        description="A part of a pod's spec. Objects are merged, lists of things with a name "
        "(containers, volumes, env) by that name, other lists replaced.",
    )


class Pods(Model):
    """What every kind of pod can be told."""

    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] = Field(
        default="IfNotPresent", description="When images are pulled."
    )
    image_pull_secrets: Annotated[
        tuple[PullSecret, ...],
        Schema({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}),
    ] = Field(default=(), max_length=16, description="Secrets for pulling images.")
    placement: Placement = Field(
        default=Placement(), description="Which nodes the pods may run on, and how they share them."
    )
    disruption: Disruption = Field(
        default=Disruption(), description="What node drains and the like may take away at a time."
    )
    monitoring: Monitoring = Field(
        default=Monitoring(), description="Metrics for the Prometheus operator."
    )
    network_policy: NetworkPolicy = Field(
        default=NetworkPolicy(), description="Who may connect to the pods."
    )
    pod_template: PodTemplate = Field(
        default=PodTemplate(),
        description="Laid over the operator's own pod template, for what has no field of its own.",
    )


class Condition(Model):
    """One thing that is true, false or unknown about a resource."""

    type: str = Field(description="What it is about.")
    status: Literal["True", "False", "Unknown"] = Field(description="Whether it holds.")
    reason: str = Field(description="Why, in one word for programs.")
    message: str = Field(default="", max_length=4096, description="Why, in a sentence for people.")
    observed_generation: int = Field(
        default=0, description="The generation of the spec that this is about."
    )
    last_transition_time: Annotated[str, Schema({"format": "date-time"})] = Field(
        description="Since when the status has been so."
    )


class Status(Model):
    """What every status has."""

    observed_generation: int | None = Field(
        default=None, description="The generation of the spec that this status is about."
    )
    conditions: Annotated[
        tuple[Condition, ...],
        Schema({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}),
    ] = Field(default=(), description="What is true now, and since when.")
    summary: str | None = Field(default=None, description="The story in one line.")
