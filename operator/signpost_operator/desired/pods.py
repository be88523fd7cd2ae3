"""Parts of pods that name servers and brokers share."""

from collections.abc import Mapping
from typing import Any

from signpost_operator.resources.common import Placement, Pods, Resources

from .context import Manifest
from .merge import overlay

HTTP = "http"
REMOTING = "remoting"
USER = 65532
"""Whom our own images run as."""

CONFINED: Manifest = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}
"""What the restricted pod security profile asks of a container, and a bit more."""


def pod_security(user: int) -> Manifest:
    """What that profile asks of a pod. Volumes belong to the user."""
    return {
        "runAsNonRoot": True,
        "runAsUser": user,
        "runAsGroup": user,
        "fsGroup": user,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def resources(given: Resources) -> Manifest:
    """Requests and limits that are not empty."""
    both = {"requests": dict(given.requests), "limits": dict(given.limits)}
    return {name: amounts for name, amounts in both.items() if amounts}


def probe(path: str, port: str = HTTP, **times: int) -> Manifest:
    """An HTTP probe."""
    return {"httpGet": {"path": path, "port": port}, **times}


def placement(given: Placement, selector: Mapping[str, str]) -> Manifest:
    """The scheduling part of a pod's spec."""
    spec: Manifest = {
        "nodeSelector": dict(given.node_selector),
        "tolerations": [toleration.to_dict() for toleration in given.tolerations],
        "affinity": dict(given.affinity),
        "topologySpreadConstraints": [
            spread.to_dict() | {"labelSelector": {"matchLabels": dict(selector)}}
            for spread in given.topology_spread
        ],
        "priorityClassName": given.priority_class_name,
    }
    return {name: value for name, value in spec.items() if value}


def template(
    given: Pods,
    *,
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    selector: Mapping[str, str],
    spec: Mapping[str, Any],
) -> Manifest:
    """A pod template: the builder's own spec, placement, pulling, and overrides over all."""
    over = given.pod_template
    whole = {
        # Links would be settings with a wrong name to our programs: Services are found by DNS.
        "enableServiceLinks": False,
        **spec,
        **placement(given.placement, selector),
    }
    if given.image_pull_secrets:
        whole["imagePullSecrets"] = [{"name": one.name} for one in given.image_pull_secrets]
    # What the selectors look for cannot be overridden.
    metadata: Manifest = {"labels": {**over.metadata.labels, **labels}}
    # The API server forgets what is empty, and would seem to differ for ever.
    if notes := {**annotations, **over.metadata.annotations}:
        metadata["annotations"] = notes
    return {"metadata": metadata, "spec": overlay(whole, over.spec)}
