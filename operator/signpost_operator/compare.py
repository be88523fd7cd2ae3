"""Whether a live object still is what was applied. Pure.

Server-side apply owns the fields that the manifest names and no others, so only those are
compared: what the API server filled in, and what somebody else added beside them, is theirs.
A field that the manifest no longer names shows in the hash that every applied object carries.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from decimal import Decimal

from .api.kinds import Manifest

HASH = "signpost.dev/applied-hash"

_KEYS: dict[str, tuple[str, ...]] = {
    "containers": ("name",),
    "env": ("name",),
    "hostAliases": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "ownerReferences": ("uid",),
    "ports": ("name", "port", "containerPort", "protocol"),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}
"""Lists that others may add to, and what identifies an entry."""

_QUANTITIES = {"limits", "requests", "sizeLimit", "divisor"}
_QUANTITY = re.compile(r"([+-]?[0-9.]+)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?[0-9]+)?")
_DECIMAL = {"m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}


def fingerprint(manifest: Manifest) -> str:
    """Equal for equal manifests."""
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def stamped(manifest: Manifest) -> Manifest:
    """The manifest with its own hash as an annotation."""
    metadata = manifest["metadata"]
    annotations = {**metadata.get("annotations", {}), HASH: fingerprint(manifest)}
    return {**manifest, "metadata": {**metadata, "annotations": annotations}}


def same(ours: object, theirs: object) -> bool:
    """Equal, but for what is left out on one side and empty on the other."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return all(same(ours.get(key), theirs.get(key)) for key in ours.keys() | theirs.keys())
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return all(map(same, ours, theirs))
    return ours == theirs or not (ours or theirs)


def differences(wanted: object, live: object) -> frozenset[str]:
    """The paths at which the live object is not what is wanted; none when it is."""
    return frozenset(_differ(wanted, live, "", False))


def _differ(wanted: object, live: object, path: str, quantity: bool) -> Iterator[str]:
    if isinstance(wanted, dict) and isinstance(live, dict):
        for key, value in wanted.items():
            where = f"{path}.{key}" if path else str(key)
            if key in live:
                yield from _differ(value, live[key], where, quantity or key in _QUANTITIES)
            elif value:  # The API server leaves out what is empty, zero or false.
                yield where
    elif isinstance(wanted, list) and isinstance(live, list):
        yield from _differ_list(wanted, live, path, quantity)
    elif wanted != live and not (quantity and _same_amount(wanted, live)):
        yield path


def _differ_list(
    wanted: list[object], live: list[object], path: str, quantity: bool
) -> Iterator[str]:
    keys = _KEYS.get(path.rpartition(".")[2])
    if keys is None:
        if len(wanted) != len(live):
            yield path
            return
        for index, (ours, theirs) in enumerate(zip(wanted, live, strict=True)):
            yield from _differ(ours, theirs, f"{path}[{index}]", quantity)
        return
    for ours in wanted:
        found = next((theirs for theirs in live if _is_same(ours, theirs, keys)), None)
        if found is None:
            yield f"{path}[{_label(ours, keys)}]"
        else:
            yield from _differ(ours, found, f"{path}[{_label(ours, keys)}]", quantity)


def _is_same(ours: object, theirs: object, keys: tuple[str, ...]) -> bool:
    if not (isinstance(ours, dict) and isinstance(theirs, dict)):
        return ours == theirs
    return all(ours[key] == theirs.get(key) for key in keys if key in ours)


def _label(entry: object, keys: tuple[str, ...]) -> str:
    if isinstance(entry, dict):
        return next((str(entry[key]) for key in keys if key in entry), "?")
    return str(entry)


def _same_amount(wanted: object, live: object) -> bool:
    amount = _amount(wanted)
    return amount is not None and amount == _amount(live)


def _amount(value: object) -> Decimal | None:
    """What a Kubernetes quantity amounts to: 1 and 1000m are the same."""
    match = _QUANTITY.fullmatch(str(value))
    if match is None:
        return None
    number, suffix = Decimal(match[1]), match[2] or ""
    if suffix in _DECIMAL:
        return number.scaleb(_DECIMAL[suffix])
    if suffix in _BINARY:
        return number * Decimal(1024) ** _BINARY[suffix]
    return number.scaleb(int(suffix[1:])) if suffix else number
