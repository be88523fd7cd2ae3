"""Laying a part of an object over another, as podTemplate overrides do. Pure."""

from collections.abc import Mapping
from typing import Any

_KEYS = {"volumeMounts": "mountPath", "ports": "containerPort"}
"""Lists whose entries are known by something else than their name."""


def overlay(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `over` on top; a null in `over` takes the field away."""
    merged = dict(base)
    for key, value in over.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = overlay(merged[key], value)
        elif isinstance(value, list) and isinstance(merged.get(key), list):
            merged[key] = _lists(merged[key], value, _KEYS.get(key, "name"))
        else:
            merged[key] = value
    return merged


def _lists(base: list[Any], over: list[Any], key: str) -> list[Any]:
    """Entries with the same key are merged, others appended; lists without keys are replaced."""
    if not all(isinstance(entry, Mapping) and key in entry for entry in (*base, *over)):
        return over
    found = {entry[key]: entry for entry in base}
    for entry in over:
        found[entry[key]] = overlay(found.get(entry[key], {}), entry)
    return list(found.values())
