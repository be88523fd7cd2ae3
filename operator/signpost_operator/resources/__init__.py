"""The custom resources of signpost.dev/v1alpha1. These models are the one source of crds/."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from .broker import Broker, BrokerSpec, BrokerStatus
from .model import Model
from .nameserver import NameServerCluster, NameServerClusterSpec, NameServerClusterStatus
from .problems import Problem, SpecError, problems_of
from .reporting import RouteHealthReport, RouteHealthReportSpec

_Resource = TypeVar("_Resource", NameServerCluster, Broker, RouteHealthReport)


def parse(kind: type[_Resource], body: Mapping[str, Any]) -> _Resource:
    """A resource from what the API server holds; SpecError says all that is wrong with it."""
    meta = body.get("metadata", {})
    given: dict[str, Any] = {
        "name": meta.get("name"),
        "namespace": meta.get("namespace"),
        "spec": body.get("spec") or {},
    }
    if kind is not RouteHealthReport:
        given |= {
            "generation": meta.get("generation", 0),
            "uid": meta.get("uid", ""),
            "annotations": meta.get("annotations") or {},
        }
    try:
        return kind.model_validate(given)
    except ValidationError as e:
        raise SpecError(problems_of(e, kind)) from e


__all__ = [
    "Broker",
    "BrokerSpec",
    "BrokerStatus",
    "Model",
    "NameServerCluster",
    "NameServerClusterSpec",
    "NameServerClusterStatus",
    "Problem",
    "RouteHealthReport",
    "RouteHealthReportSpec",
    "SpecError",
    "parse",
]
