"""The operator's own settings: a flag each, and an environment variable of the same name.

`--resync-seconds 300` and `SIGNPOST_OPERATOR_RESYNC_SECONDS=300` mean the same; the flag wins.
"""

from __future__ import annotations

import argparse
import os
import socket
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

PREFIX = "SIGNPOST_OPERATOR_"


class SettingsError(Exception):
    """A setting has a value that cannot be used."""


def _names(value: Any) -> Any:
    if isinstance(value, str):
        return tuple(name.strip() for name in value.split(",") if name.strip())
    return value


def _own_version() -> str:
    try:
        return metadata.version("signpost-operator")
    except metadata.PackageNotFoundError:
        return "latest"


class Settings(BaseModel):
    """What can be set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    namespaces: Annotated[tuple[str, ...], BeforeValidator(_names)] = Field(
        default=(),
        description="work in these namespaces only, separated by commas; empty: in all of them",
    )
    listen: Annotated[str, Field(pattern=r"^.*:[0-9]{1,5}$")] = Field(
        default="0.0.0.0:8080", description="where /healthz, /readyz and /metrics are served"
    )
    leader_election: bool = Field(
        default=True, description="whether several replicas agree on one that works"
    )
    operator_namespace: str = Field(
        default="", description="where the operator's own pods are; POD_NAMESPACE says so too"
    )
    lease_namespace: str = Field(
        default="", description="where the Lease lives; empty: with the operator"
    )
    lease_name: str = Field(default="signpost-operator", description="its name")
    lease_seconds: float = Field(
        default=30.0, ge=3, description="for how long a silent leader stays the leader"
    )
    identity: str = Field(default="", description="this replica's name in the Lease")
    workers: int = Field(
        default=8, ge=1, le=200, description="how many resources are reconciled at a time"
    )
    observe_seconds: float = Field(
        default=10.0, gt=0, description="how often name servers are asked what they know"
    )
    probe_seconds: float = Field(
        default=3.0, gt=0, description="how long a name server may take to answer"
    )
    http_port: int = Field(
        default=8080, ge=1, le=65535, description="the HTTP port of the name servers' pods"
    )
    remoting_port: int = Field(
        default=9876, ge=1, le=65535, description="the remoting port of the name servers' pods"
    )
    resync_seconds: float = Field(
        default=600.0, gt=0, description="how often everything is listed anew, for missed events"
    )
    version: str = Field(
        default=_own_version(), description="tag of images, where a resource names none"
    )
    image: str = Field(
        default="", description="image of name servers and sidecars, where a resource names none"
    )
    report_image: str = Field(
        default="", description="image of the route health job, where a resource names none"
    )
    log_format: Literal["json", "text"] = Field(default="json", description="json or text")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="debug, info, warning or error"
    )


def load(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings; argparse answers -h itself, and SettingsError says what cannot be used."""
    flags = vars(_parser().parse_args(arguments))
    values: dict[str, str] = {
        "operator_namespace": environment.get("POD_NAMESPACE", ""),
        "identity": environment.get("POD_NAME") or f"{socket.gethostname()}-{os.getpid()}",
    }
    for name in Settings.model_fields:
        given = flags[name] if flags[name] is not None else environment.get(PREFIX + name.upper())
        if given is not None:
            values[name] = given
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError("; ".join(map(_sentence, error.errors()))) from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="signpost-operator",
        description="Keeps NameServerCluster and Broker resources true.",
        epilog=f"Every flag is also an environment variable: {PREFIX}LOG_LEVEL for --log-level.",
    )
    for name, field in Settings.model_fields.items():
        default = "" if field.default in ((), "") else f" ({str(field.default).lower()})"
        parser.add_argument(
            f"--{name.replace('_', '-')}", metavar="VALUE", help=f"{field.description}{default}"
        )
    return parser


def _sentence(details: Any) -> str:
    flag = str(details["loc"][0]).replace("_", "-")
    return f"--{flag} ({details['input']!r}): {details['msg']}"
