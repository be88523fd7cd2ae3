"""Kinds of object and where in the API they live."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Manifest = dict[str, Any]
"""A Kubernetes object as JSON has it."""

GROUP_VERSION = "signpost.dev/v1alpha1"


@dataclass(frozen=True, slots=True)
class Kind:
    """A namespaced kind of object."""

    api_version: str
    name: str
    plural: str
    optional: bool = False
    """Whether a cluster may do without the API that serves it."""

    @property
    def root(self) -> str:
        """The path of the API group and version."""
        return f"/{'apis' if '/' in self.api_version else 'api'}/{self.api_version}"

    @property
    def group(self) -> str:
        """The API group; empty for Kubernetes' oldest kinds."""
        return self.api_version.rpartition("/")[0]

    def path(self, namespace: str | None, name: str = "", sub: str = "") -> str:
        """Of one object, or of all in a namespace, or of all in the cluster."""
        parts = [self.root]
        if namespace is not None:
            parts += ["namespaces", namespace]
        return "/".join([*parts, self.plural, *([name] if name else []), *([sub] if sub else [])])


NAME_SERVER_CLUSTER = Kind(GROUP_VERSION, "NameServerCluster", "nameserverclusters")
BROKER = Kind(GROUP_VERSION, "Broker", "brokers")
ROUTE_HEALTH_REPORT = Kind(GROUP_VERSION, "RouteHealthReport", "routehealthreports")

EVENT = Kind("v1", "Event", "events")
LEASE = Kind("coordination.k8s.io/v1", "Lease", "leases")
POD = Kind("v1", "Pod", "pods")

DEPLOYMENT = Kind("apps/v1", "Deployment", "deployments")
STATEFUL_SET = Kind("apps/v1", "StatefulSet", "statefulsets")

OWNED = (
    Kind("v1", "ServiceAccount", "serviceaccounts"),
    Kind("rbac.authorization.k8s.io/v1", "Role", "roles"),
    Kind("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"),
    Kind("v1", "ConfigMap", "configmaps"),
    Kind("v1", "Service", "services"),
    Kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
    Kind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"),
    DEPLOYMENT,
    STATEFUL_SET,
    Kind("monitoring.coreos.com/v1", "PodMonitor", "podmonitors", optional=True),
    Kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
    Kind(
        "sparkoperator.k8s.io/v1beta2",
        "ScheduledSparkApplication",
        "scheduledsparkapplications",
        optional=True,
    ),
    Kind("spark.apache.org/v1", "SparkApplication", "sparkapplications", optional=True),
)
"""What the operator makes, watches and prunes."""
