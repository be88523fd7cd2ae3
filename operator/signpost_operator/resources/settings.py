"""spec.config of a NameServerCluster: which settings there are, and which the operator sets.

The name server itself is not imported: data/namesrv-settings.json, made by `make crds`, tells.
"""

import difflib
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Any

from pydantic import AfterValidator

from .model import FREE_FORM, Rule, Schema

CATALOGUE: Mapping[str, dict[str, Any]] = json.loads(
    files("signpost_operator").joinpath("data/namesrv-settings.json").read_text()
)

OWNED: Mapping[str, str] = {
    "listenPort": "pods always listen on 9876; set exposure.port for the Service",
    "httpPort": "pods always listen on 8080; set exposure.httpPort for the Service",
    "needWaitForService": "see warmup",
    "waitSecondsForService": "set warmup.waitSeconds",
    "expectedBrokers": "set warmup.expectedBrokers",
    "kvConfigPath": "see kv",
    "configStorePath": "the operator writes the file",
    "rocketmqHome": "it is only reported to admin tools",
    "adminAddresses": "set access.adminAddresses",
    "adminCertNames": "set access.adminCertNames",
    "httpTokenFile": "set access.httpTokenSecret",
    "httpReadsNeedToken": "set access.httpReadsNeedToken",
    "bindAddress": "pods listen on every address they have",
    "advertiseAddress": "it is the pod's own address",
    "peerService": "it is the operator's headless Service",
    "peerUrls": "the operator's headless Service tells the peers",
    "tls.server.mode": "set tls.mode",
    "tls.server.need.client.auth": "set tls.clientAuth",
    "tls.server.certPath": "set tls.secretName",
    "tls.server.keyPath": "set tls.secretName",
    "tls.server.trustCertPath": "put ca.crt into the Secret of tls.secretName",
    "tls.server.keyPassword": "put the key into the Secret without a password",
    "tls.config.file": "set tls",
    "shutdownWaitTimeSeconds": "the operator fits it into the pods' grace period",
}
"""Settings that the operator makes itself, and what to do instead."""

_UNITS = {"s": "seconds", "ms": "milliseconds", "bytes": "bytes"}


def owned_message(key: str) -> str:
    """Why a setting cannot be given."""
    return f"{key} is set by the operator: {OWNED[key]}"


def _check(config: dict[str, Any]) -> dict[str, Any]:
    problems = [problem for key in config if (problem := _problem(key, config[key]))]
    if problems:
        raise ValueError("; ".join(problems))
    return config


def _problem(key: str, value: Any) -> str:
    if key in OWNED:
        return owned_message(key)
    known = CATALOGUE.get(key)
    if known is None:
        close = difflib.get_close_matches(key, [k for k in CATALOGUE if k not in OWNED], n=1)
        return f"{key} is no setting" + (f": did you mean {close[0]}?" if close else "")
    return "" if _fits(known, value) else f"{key}: {value!r} is not {known['expects']}"


def _fits(known: Mapping[str, Any], value: Any) -> bool:
    match known["type"]:
        case "boolean":
            return isinstance(value, bool) or str(value).lower() in ("true", "false")
        case "integer":
            try:
                number = int(value)
            except (TypeError, ValueError):
                return False
            low, high = known.get("minimum", number), known.get("maximum", number)
            return not isinstance(value, bool) and bool(low <= number <= high)
    words = known.get("enum")
    return isinstance(value, str | int | float) and (not words or str(value) in words)


def _property(known: Mapping[str, Any]) -> dict[str, Any]:
    unit = f" In {_UNITS[known['unit']]}." if known.get("unit") in _UNITS else ""
    schema = {"description": known["why"] + unit, "type": known["type"]}
    return schema | {w: known[w] for w in ("enum", "minimum", "maximum") if w in known}


def _schema() -> dict[str, Any]:
    """Known settings with their types; an unknown one reaches the operator, which answers it."""
    known = {
        key: _property(about)
        for key, about in CATALOGUE.items()
        if about.get("effect", True) and key not in OWNED
    }
    # Declared so that the rules can see them.
    owned = {
        key: {"type": CATALOGUE[key]["type"], "description": f"Not to be set: {why}."}
        for key, why in OWNED.items()
    }
    return {"type": "object", "properties": dict(sorted((known | owned).items())), FREE_FORM: True}


RULES = tuple(
    Rule(f"!has(self.{key.replace('.', '__dot__')})", owned_message(key)) for key in OWNED
)

Config = Annotated[
    dict[str, bool | int | str],
    AfterValidator(_check),
    Schema(_schema()),
    *RULES,
]
