"""Names, labels and annotations of the objects that the operator makes. Pure."""

import hashlib
from collections.abc import Mapping
from typing import Any

GROUP = "signpost.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"

FIELD_MANAGER = "signpost-operator"

PAUSED = f"{GROUP}/paused"
"""Annotation: "true" stops changes and keeps the status."""
ALLOW_LAST_GROUP = f"{GROUP}/allow-no-writable-group"
"""Annotation of a Broker: "true" lets the last writable group be taken away."""
CONFIG_HASH = f"{GROUP}/config-hash"
"""Annotation of pods: changes with what is only read at the start, and so rolls them."""

OWNER = f"{GROUP}/owner"
OWNER_KIND = f"{GROUP}/owner-kind"
GROUP_LABEL = f"{GROUP}/broker-group"
ROLE = "app.kubernetes.io/component"
POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"

NAMESRV = "name-server"
BROKER = "broker"
REPORT = "report"

_LONGEST = 52
"""A pod's name, or its controller's label, adds eleven characters to this and may have 63."""


def fit(name: str, longest: int = _LONGEST) -> str:
    """The name, shortened with a hash of its whole when it is too long; always ends well."""
    if len(name) <= longest:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: longest - 9].rstrip('-.')}-{digest}"


def namesrv(cluster: str) -> str:
    """Deployment, client Service, ConfigMap and the rest of the name servers."""
    return fit(f"{cluster}-namesrv")


def namesrv_headless(cluster: str) -> str:
    """The Service whose name gives every name server, ready or not."""
    return fit(f"{cluster}-namesrv-all", 63)


def namesrv_kv(cluster: str) -> str:
    """The ConfigMap with the copy of the KV configuration."""
    return fit(f"{cluster}-namesrv-kv", 63)


def brokers(broker: str) -> str:
    """Headless Service and the rest that all groups of a Broker share."""
    return fit(f"{broker}-brokers")


def group(broker: str, number: int) -> str:
    """The brokerName of a group, and its StatefulSet."""
    return fit(f"{broker}-{number}")


def pod(broker: str, number: int, ordinal: int) -> str:
    """A broker's pod, and its own Service when it has one."""
    return f"{group(broker, number)}-{ordinal}"


def report(cluster: str) -> str:
    """The report job and what belongs to it; kept short, for Spark derives names from it."""
    return fit(f"{cluster}-report", 40)


def service_dns(service: str, namespace: str) -> str:
    """A Service's name from any namespace. Without the cluster's domain, which differs."""
    return f"{service}.{namespace}.svc"


def selector(owner: str, role: str) -> dict[str, str]:
    """Labels that choose an owner's pods. They can never change: Deployments forbid it."""
    return {"app.kubernetes.io/instance": label_value(owner), ROLE: role}


def group_selector(broker: str, number: int) -> dict[str, str]:
    """Labels that choose the pods of one group."""
    return selector(broker, BROKER) | {GROUP_LABEL: group(broker, number)}


def labels(kind: str, owner: str, role: str) -> dict[str, str]:
    """Labels of everything that is made for an owner."""
    return selector(owner, role) | {
        "app.kubernetes.io/name": "signpost",
        "app.kubernetes.io/part-of": "signpost",
        "app.kubernetes.io/managed-by": FIELD_MANAGER,
        OWNER: label_value(owner),
        OWNER_KIND: kind,
    }


def owned_by(kind: str, owner: str) -> str:
    """The label selector that finds everything that was made for an owner."""
    return f"{OWNER_KIND}={kind},{OWNER}={label_value(owner)}"


def selector_text(wanted: Mapping[str, str]) -> str:
    """Labels as a selector is written."""
    return ",".join(f"{key}={value}" for key, value in sorted(wanted.items()))


def label_value(text: str) -> str:
    """Fit for a label."""
    return fit(text, 63)


def owner_reference(kind: str, name: str, uid: str) -> dict[str, Any]:
    """So that Kubernetes deletes what is made with its owner."""
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def digest(*parts: str) -> str:
    """A short hash of texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
