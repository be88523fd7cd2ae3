"""crds/*.yaml from the models: `python -m signpost_operator.crds FOLDER` writes them."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .names import API_VERSION, GROUP, VERSION
from .resources import Model
from .resources.broker import Broker, BrokerSpec, BrokerStatus
from .resources.model import Rule
from .resources.nameserver import NameServerCluster, NameServerClusterSpec, NameServerClusterStatus
from .resources.reporting import RouteHealthReport, RouteHealthReportSpec
from .schema import object_schema, rule_schema

HEADER = "# Made by `make crds` from operator/signpost_operator/resources. Do not edit.\n"

_MAKES_SERVICES = Rule(
    "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    "the name becomes that of Services: start it with a letter, and use letters, digits and "
    "dashes only",
)
_SHORT = Rule(
    "size(self.metadata.name) <= 40",
    "the name is part of the pods' names: use at most 40 characters",
)


@dataclass(frozen=True, slots=True)
class Crd:
    """A custom resource definition, apart from its fields."""

    kind: str
    plural: str
    short: str
    model: type[Model]
    spec: type[Model]
    columns: tuple[tuple[str, str, str, str], ...]
    """Name, type, path and description."""
    status: type[Model] | None = None
    scale: tuple[str, str] | None = None
    """Paths of the wanted and the present number."""
    rules: tuple[Rule, ...] = ()


def _condition(kind: str) -> str:
    return f'.status.conditions[?(@.type=="{kind}")].status'


_AGE = ("Age", "date", ".metadata.creationTimestamp", "Since it was made")

CRDS = (
    Crd(
        kind="NameServerCluster",
        plural="nameserverclusters",
        short="nsc",
        model=NameServerCluster,
        spec=NameServerClusterSpec,
        status=NameServerClusterStatus,
        scale=(".spec.replicas", ".status.replicas"),
        rules=(_MAKES_SERVICES, _SHORT),
        columns=(
            ("Ready", "string", ".status.ready", "Name servers ready of wanted"),
            ("Consistent", "string", _condition("RoutesConsistent"), "Whether all agree"),
            ("Healthy", "string", _condition("RouteHealthy"), "By the last report"),
            ("Brokers", "integer", ".status.brokers", "Brokers known"),
            ("Topics", "integer", ".status.topics", "Topics known"),
            ("Version", "string", ".status.version", "What all run"),
            ("Status", "string", ".status.summary", "The story in one line"),
            _AGE,
        ),
    ),
    Crd(
        kind="Broker",
        plural="brokers",
        short="rmqb",
        model=Broker,
        spec=BrokerSpec,
        status=BrokerStatus,
        scale=(".spec.groups", ".status.groups"),
        rules=(_MAKES_SERVICES, _SHORT),
        columns=(
            ("Name servers", "string", ".spec.nameServerCluster.name", "NameServerCluster"),
            ("Groups", "integer", ".spec.groups", "Groups wanted"),
            ("Ready", "string", ".status.ready", "Brokers ready of wanted"),
            ("Version", "string", ".status.version", "The image's version"),
            ("Status", "string", ".status.summary", "The story in one line"),
            _AGE,
        ),
    ),
    Crd(
        kind="RouteHealthReport",
        plural="routehealthreports",
        short="rhr",
        model=RouteHealthReport,
        spec=RouteHealthReportSpec,
        columns=(
            ("Cluster", "string", ".spec.cluster", "NameServerCluster"),
            ("Verdict", "string", ".spec.verdict", "Whether clients find their brokers"),
            ("Critical", "integer", ".spec.counts.critical", "Critical findings"),
            ("Warnings", "integer", ".spec.counts.warning", "Warnings"),
            ("New", "integer", ".spec.counts.new", "Findings new in this report"),
            ("Read", "date", ".spec.generatedAt", "When the last round was read"),
        ),
    ),
)


def manifest(crd: Crd) -> dict[str, Any]:
    """The whole definition."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{crd.plural}.{GROUP}",
            "labels": {"app.kubernetes.io/part-of": "signpost"},
        },
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": crd.kind,
                "listKind": f"{crd.kind}List",
                "plural": crd.plural,
                "singular": crd.kind.lower(),
                "shortNames": [crd.short],
                "categories": ["signpost"],
            },
            "versions": [_version(crd)],
        },
    }


def _version(crd: Crd) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "apiVersion": {"type": "string", "description": f"Always {API_VERSION}."},
        "kind": {"type": "string", "description": f"Always {crd.kind}."},
        "metadata": {"type": "object"},
        "spec": object_schema(crd.spec),
    }
    subresources: dict[str, Any] = {}
    if crd.status is not None:
        properties["status"] = object_schema(crd.status)
        subresources["status"] = {}
    if crd.scale is not None:
        wanted, present = crd.scale
        subresources["scale"] = {
            "specReplicasPath": wanted,
            "statusReplicasPath": present,
            "labelSelectorPath": ".status.selector",
        }
    schema: dict[str, Any] = {
        "description": crd.model.__doc__,
        "type": "object",
        "required": ["spec"],
        "properties": properties,
    }
    if crd.rules:
        schema["x-kubernetes-validations"] = [rule_schema(rule) for rule in crd.rules]
    return {
        "name": VERSION,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [
            {"name": name, "type": kind, "jsonPath": path, "description": about}
            for name, kind, path, about in crd.columns
        ],
        "schema": {"openAPIV3Schema": schema},
        **({"subresources": subresources} if subresources else {}),
    }


class _Dumper(yaml.SafeDumper):
    """Without anchors, which nobody wants to read."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def files() -> dict[str, str]:
    """The text of every file by its name."""
    return {
        f"{crd.plural}.yaml": HEADER
        + yaml.dump(manifest(crd), Dumper=_Dumper, sort_keys=False, width=98, allow_unicode=True)
        for crd in CRDS
    }


def main(words: Sequence[str] | None = None) -> int:
    """Write the files, or say which are stale."""
    parser = argparse.ArgumentParser(prog="python -m signpost_operator.crds", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="+", help="where the files are")
    parser.add_argument("--check", action="store_true", help="only compare; 1 when stale")
    given = parser.parse_args(words)
    stale = [
        path
        for folder in given.folder
        for name, text in files().items()
        if not (path := folder / name).exists() or path.read_text() != text
    ]
    for path in stale:
        if given.check:
            sys.stderr.write(f"{path} is stale: run `make crds`\n")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files()[path.name])
    return 1 if given.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
