"""What the builders know besides the resources, and the object that all of them start from."""

from dataclasses import dataclass, field
from typing import Any, Literal

from signpost_operator import names

Manifest = dict[str, Any]
"""A Kubernetes object as JSON has it."""

Kind = Literal["NameServerCluster", "Broker"]


@dataclass(frozen=True, slots=True)
class Context:
    """The operator's own settings and what the cluster can do."""

    version: str
    """Tag of the operator's images, where a resource names none."""
    namesrv_image: str = "signpost/namesrv"
    report_image: str = "signpost/report"
    operator_namespace: str = ""
    """Where the operator runs; empty: outside the cluster."""
    apis: frozenset[str] = field(default_factory=frozenset)
    """API groups that the cluster has besides Kubernetes' own."""

    def image(self, image: str | None, version: str | None, default: str) -> str:
        """An image with its tag."""
        chosen = image or default
        if "@" in chosen or ":" in chosen.rpartition("/")[2]:
            return chosen
        return f"{chosen}:{version or self.version}"


@dataclass(frozen=True, slots=True)
class Owner:
    """For whom objects are made."""

    kind: Kind
    name: str
    namespace: str
    uid: str
    role: str

    def make(
        self,
        api_version: str,
        kind: str,
        name: str,
        *,
        annotations: dict[str, str] | None = None,
        labels: dict[str, str] | None = None,
        **rest: Any,
    ) -> Manifest:
        """An object of the owner's."""
        metadata: Manifest = {
            "name": name,
            "namespace": self.namespace,
            "labels": (labels or {}) | names.labels(self.kind, self.name, self.role),
            "ownerReferences": [names.owner_reference(self.kind, self.name, self.uid)],
        }
        if annotations:
            metadata["annotations"] = annotations
        return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}
