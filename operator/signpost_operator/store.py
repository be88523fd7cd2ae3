"""What the operator last saw of the objects in its care, kept small.

Thousands of objects as Python dictionaries would take many times the room of their JSON, and
each is looked into only when its owner is reconciled.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .api.kinds import Manifest


class Ref(NamedTuple):
    """One object."""

    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Held:
    """An object as last seen."""

    uid: str
    version: str
    owner: str
    """The uid of the controlling owner; empty when there is none."""
    owner_ref: Ref | None
    text: bytes

    @property
    def body(self) -> Manifest:
        """The object itself."""
        parsed: Manifest = json.loads(self.text)
        return parsed


def ref_of(body: Manifest, kind: str = "") -> Ref:
    """Which object this is; items of lists do not say their kind."""
    metadata = body["metadata"]
    return Ref(kind or body["kind"], metadata.get("namespace", ""), metadata["name"])


def controller_of(body: Manifest) -> Manifest:
    """The reference to the owner that controls an object; empty when none does."""
    owners = body["metadata"].get("ownerReferences", ())
    return next((each for each in owners if each.get("controller")), {})


def _hold(body: Manifest) -> Held:
    metadata = body["metadata"]
    controller = controller_of(body)
    namespace = metadata.get("namespace", "")
    owner = Ref(controller["kind"], namespace, controller["name"]) if controller else None
    slim = {**body, "metadata": {k: v for k, v in metadata.items() if k != "managedFields"}}
    return Held(
        uid=metadata["uid"],
        version=metadata["resourceVersion"],
        owner=controller.get("uid", ""),
        owner_ref=owner,
        text=json.dumps(slim, separators=(",", ":")).encode(),
    )


class Store:
    """Objects by name and by owner."""

    def __init__(self) -> None:
        self._held: dict[Ref, Held] = {}
        self._by_owner: dict[str, set[Ref]] = {}

    def put(self, ref: Ref, body: Manifest) -> Held | None:
        """Remember an object; what is returned is None when it was known already."""
        known = self._held.get(ref)
        version = body["metadata"]["resourceVersion"]
        same = known is not None and known.uid == body["metadata"]["uid"]
        if known is not None and same and not _is_newer(version, known.version):
            return None
        held = _hold(body)
        if known is not None:
            self._unlink(ref, known)
        self._held[ref] = held
        self._by_owner.setdefault(held.owner, set()).add(ref)
        return held

    def drop(self, ref: Ref, uid: str) -> Held | None:
        """Forget an object that is gone, unless its name has a new one by now."""
        known = self._held.get(ref)
        if known is None or known.uid != uid:
            return None
        del self._held[ref]
        self._unlink(ref, known)
        return known

    def get(self, ref: Ref) -> Held | None:
        """One object."""
        return self._held.get(ref)

    def owned_by(self, uid: str) -> dict[Ref, Held]:
        """All objects that an owner controls."""
        return {ref: self._held[ref] for ref in sorted(self._by_owner.get(uid, ()))}

    def of_kind(self, kind: str) -> Iterator[tuple[Ref, Held]]:
        """All objects of a kind."""
        return iter([(ref, held) for ref, held in self._held.items() if ref.kind == kind])

    def vanished(self, kind: str, seen: Iterable[str]) -> list[tuple[Ref, Held]]:
        """The objects of a kind that a complete list, given by uid, did not have."""
        present = set(seen)
        return [(ref, held) for ref, held in self.of_kind(kind) if held.uid not in present]

    def __len__(self) -> int:
        return len(self._held)

    def _unlink(self, ref: Ref, held: Held) -> None:
        refs = self._by_owner[held.owner]
        refs.discard(ref)
        if not refs:
            del self._by_owner[held.owner]


def _is_newer(version: str, known: str) -> bool:
    """A watch may be behind what a write has just returned.

    Versions count upwards: Kubernetes promises that since 1.35, and etcd always did.
    """
    if version.isdigit() and known.isdigit():
        return int(version) > int(known)
    return version != known
