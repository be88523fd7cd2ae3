"""Deployments, StatefulSets and Services, in the words of the status. Pure."""

from __future__ import annotations

from signpost_operator.api.kinds import Manifest
from signpost_operator.facts import Workload


def workload_of(body: Manifest) -> Workload:
    """A Deployment or StatefulSet as its controller tells it."""
    status = body.get("status") or {}
    return Workload(
        wanted=int(body["spec"].get("replicas", 1)),
        replicas=int(status.get("replicas", 0)),
        ready=int(status.get("readyReplicas", 0)),
        updated=int(status.get("updatedReplicas", 0)),
        current=int(status.get("observedGeneration", 0)) >= int(body["metadata"]["generation"]),
        stuck=_stuck(status),
    )


def _stuck(status: Manifest) -> str:
    for each in status.get("conditions") or ():
        late = each["type"] == "Progressing" and each["status"] == "False"
        failing = each["type"] == "ReplicaFailure" and each["status"] == "True"
        if late or failing:
            return str(each.get("message") or each.get("reason") or each["type"])
    return ""


def balancer_host(service: Manifest) -> str:
    """The host of a load balancer; empty while there is none."""
    balancer = (service.get("status") or {}).get("loadBalancer") or {}
    for each in balancer.get("ingress") or ():
        return str(each.get("hostname") or each.get("ip") or "")
    return ""


def external_address(service: Manifest) -> str:
    """Where clients outside the cluster find the first port; empty: nowhere, or not yet."""
    spec = service["spec"]
    first = spec["ports"][0]
    if spec.get("type") == "LoadBalancer" and (host := balancer_host(service)):
        return f"{host}:{first['port']}"
    if spec.get("type") == "NodePort" and first.get("nodePort"):
        return f"any node:{first['nodePort']}"
    return ""


def version_of(image: str) -> str:
    """The tag of an image; empty when it has none."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]
