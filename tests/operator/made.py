"""Resources for the tests, from short specs."""

from typing import Any

from signpost_operator.desired import Context, Manifest
from signpost_operator.resources import Broker, NameServerCluster, parse

UID = "11111111-2222-3333-4444-555555555555"
CONTEXT = Context(
    version="0.1.0",
    operator_namespace="signpost",
    apis=frozenset({"monitoring.coreos.com", "sparkoperator.k8s.io", "spark.apache.org"}),
)


def body(name: str, spec: dict[str, Any], namespace: str = "mq") -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "uid": UID, "generation": 7}
    return {"metadata": metadata, "spec": spec}


def cluster(name: str = "routes", namespace: str = "mq", **spec: Any) -> NameServerCluster:
    return parse(NameServerCluster, body(name, spec, namespace))


def broker(name: str = "orders", namespace: str = "mq", **spec: Any) -> Broker:
    return parse(Broker, body(name, {"nameServerCluster": {"name": "routes"}} | spec, namespace))


def one(objects: list[Manifest], kind: str, name: str = "") -> Manifest:
    """The only object of a kind, or of a kind and name."""
    found = [o for o in objects if o["kind"] == kind and name in ("", o["metadata"]["name"])]
    assert len(found) == 1, [o["metadata"]["name"] for o in objects if o["kind"] == kind]
    return found[0]


def kinds(objects: list[Manifest]) -> list[str]:
    return [f"{o['kind']}/{o['metadata']['name']}" for o in objects]


def pod(workload: Manifest) -> Manifest:
    spec: Manifest = workload["spec"]["template"]["spec"]
    return spec


def container(workload: Manifest, name: str) -> Manifest:
    spec = pod(workload)
    found = [*spec["containers"], *spec.get("initContainers", [])]
    return next(c for c in found if c["name"] == name)


def environment(given: Manifest) -> dict[str, str | None]:
    return {entry["name"]: entry.get("value") for entry in given["env"]}
