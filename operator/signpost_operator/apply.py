"""Makes what is wanted true: server-side apply, prune, status and events.

The only room that writes to the API. Nothing is written that is already so: what was last seen
of every object is in the store, and only what differs there is sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from . import names
from .api import Api, ApiError, InvalidError, Kind, Manifest
from .api.client import APPLY, JSON_PATCH, MERGE_PATCH
from .api.kinds import EVENT, OWNED
from .compare import HASH, differences, stamped
from .store import Held, Ref, Store, controller_of, ref_of

HAND_OVER_TRIES, HAND_OVER_SECONDS = 50, 0.2
_KINDS = {kind.name: kind for kind in OWNED}


class ApplyError(Exception):
    """An object could not be brought into the wanted state."""

    def __init__(self, ref: Ref, why: str) -> None:
        super().__init__(f"{ref.kind} {ref.name}: {why}")
        self.ref = ref


class OwnerGoneError(ApplyError):
    """The resource that wanted all this was deleted meanwhile."""


@dataclass(slots=True)
class Outcome:
    """What was done."""

    created: list[Ref] = field(default_factory=list)
    updated: list[Ref] = field(default_factory=list)
    repaired: list[tuple[Ref, frozenset[str]]] = field(default_factory=list)
    """Objects that somebody else had changed, and where."""
    recreated: list[Ref] = field(default_factory=list)
    pruned: list[Ref] = field(default_factory=list)
    failure: ApplyError | None = None
    """What stopped it half-way; the rest was not tried."""

    def __bool__(self) -> bool:
        return bool(self.created or self.updated or self.repaired or self.recreated or self.pruned)


class Applier:
    """Brings objects into the wanted state and remembers what came of it."""

    def __init__(self, api: Api, store: Store) -> None:
        self._api = api
        self._store = store
        self._settled: dict[str, frozenset[str]] = {}
        self._brought: dict[str, set[Ref]] = {}

    async def converge(
        self,
        owner: Manifest,
        owner_kind: Kind,
        wanted: Sequence[Manifest],
        keep: Collection[Ref] = (),
    ) -> Outcome:
        """Apply in the given order, then remove what the owner has beside it and `keep`.

        OwnerGoneError when there is something to be made for an owner that was deleted.
        """
        outcome = Outcome()
        try:
            if any(self._store.get(ref_of(manifest)) is None for manifest in wanted):
                await self._check_owner(owner, owner_kind)
            for manifest in wanted:
                await self._bring(owner, manifest, outcome)
                self._brought.setdefault(owner["metadata"]["uid"], set()).add(ref_of(manifest))
            spared = {ref_of(manifest) for manifest in wanted} | set(keep)
            for ref, held in self._store.owned_by(owner["metadata"]["uid"]).items():
                if ref not in spared and ref.kind in _KINDS:
                    await self._remove(ref, held, outcome)
                    self._brought.get(held.owner, set()).discard(ref)
        except OwnerGoneError:
            raise
        except ApplyError as error:
            outcome.failure = error
        return outcome

    def forget(self, uid: str) -> None:
        """An owner is gone."""
        self._brought.pop(uid, None)

    async def annotate(self, ref: Ref, annotations: Mapping[str, str | None]) -> None:
        """Set or clear annotations of an owned object, outside of what is applied."""
        kind = _KINDS[ref.kind]
        body = {"metadata": {"annotations": dict(annotations)}}
        live = await self._api.patch(kind.path(ref.namespace, ref.name), body, MERGE_PATCH)
        self._store.put(ref, live)

    async def scale(self, ref: Ref, replicas: int) -> None:
        """Set only the number of pods, for an object that is on its way out."""
        kind = _KINDS[ref.kind]
        live = await self._api.patch(
            kind.path(ref.namespace, ref.name),
            {"spec": {"replicas": replicas}},
            MERGE_PATCH,
        )
        self._store.put(ref, live)

    async def resize(self, claim: Ref, size: str) -> None:
        """Ask for a larger volume; its StorageClass decides whether that can be."""
        path = _KINDS[claim.kind].path(claim.namespace, claim.name)
        wanted = {"spec": {"resources": {"requests": {"storage": size}}}}
        await self._api.patch(path, wanted, MERGE_PATCH)

    async def write_status(self, kind: Kind, body: Manifest, status: Manifest) -> Manifest:
        """Replace the whole status of a custom resource, if it still is the same one."""
        metadata = body["metadata"]
        patch = [
            {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
            {"op": "add", "path": "/status", "value": status},
        ]
        path = kind.path(metadata["namespace"], metadata["name"], "status")
        return await self._api.patch(path, patch, JSON_PATCH)

    async def post_event(self, body: Manifest, kind: str, reason: str, message: str) -> None:
        """A Kubernetes event about a resource; whoever cannot be told does not stop the work."""
        metadata, now = body["metadata"], datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        event: Manifest = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "generateName": f"{metadata['name'][:50]}-",
                "namespace": metadata["namespace"],
            },
            "involvedObject": {
                "apiVersion": body["apiVersion"],
                "kind": body["kind"],
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "uid": metadata["uid"],
            },
            "type": kind,
            "reason": reason,
            "message": message[:1024],
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "source": {"component": names.FIELD_MANAGER},
            "reportingComponent": names.FIELD_MANAGER,
        }
        try:
            await self._api.create(EVENT.path(metadata["namespace"]), event)
        except ApiError:
            return

    async def _bring(self, owner: Manifest, manifest: Manifest, outcome: Outcome) -> None:
        ref = ref_of(manifest)
        wanted = stamped(manifest)
        held = self._store.get(ref)
        if held is None:
            held = await self._look(manifest, owner["metadata"]["uid"])
        if held is None:
            await self._apply(ref, wanted)
            if ref in self._brought.get(owner["metadata"]["uid"], ()):
                outcome.repaired.append((ref, frozenset({"it was deleted"})))
            else:
                outcome.created.append(ref)
            return
        live = held.body
        if not _is_ours(live, manifest, owner["metadata"]["uid"]):
            raise ApplyError(ref, "exists already and belongs to somebody else")
        if "deletionTimestamp" in live["metadata"]:
            raise ApplyError(ref, "is being deleted; waiting until it is gone")
        found = differences(wanted, live)
        if not found or self._settled.get(held.uid) == found:
            return
        if await self._apply(ref, wanted, held):
            outcome.recreated.append(ref)
        elif (
            live["metadata"].get("annotations", {}).get(HASH)
            == wanted["metadata"]["annotations"][HASH]
        ):
            outcome.repaired.append((ref, found))
        else:
            outcome.updated.append(ref)

    async def _check_owner(self, owner: Manifest, kind: Kind) -> None:
        """One that is gone must get no new objects: they would be collected and made for ever."""
        metadata, ref = owner["metadata"], ref_of(owner)
        try:
            there = await self._api.find(kind, metadata["namespace"], metadata["name"])
        except ApiError as error:
            raise ApplyError(ref, str(error)) from error
        if there is None or there["metadata"]["uid"] != metadata["uid"]:
            raise OwnerGoneError(ref, "was deleted")

    async def _look(self, manifest: Manifest, uid: str) -> Held | None:
        """What the store does not know may be there: made by others, or a moment ago."""
        ref = ref_of(manifest)
        try:
            live = await self._api.find(_kind_of(ref), ref.namespace, ref.name)
        except ApiError as error:
            raise ApplyError(ref, str(error)) from error
        if live is None:
            return None
        if not _is_ours(live, manifest, uid):
            raise ApplyError(ref, "exists already and belongs to somebody else")
        self._store.put(ref, live)
        return self._store.get(ref)

    async def _apply(self, ref: Ref, wanted: Manifest, held: Held | None = None) -> bool:
        """Send it; True when the old object had to go for it."""
        recreated = False
        try:
            try:
                live = await self._send(ref, wanted)
            except InvalidError:
                # Most of a StatefulSet cannot change. Its pods and volumes can be handed over
                # to a new one, though.
                if held is None or ref.kind != "StatefulSet":
                    raise
                await self._hand_over(ref, held)
                live = await self._send(ref, wanted)
                recreated = True
        except ApiError as error:
            raise ApplyError(ref, str(error)) from error
        self._store.put(ref, live)
        # A webhook may insist on a value of its own: fighting it would never end.
        left = differences(wanted, live)
        if left:
            self._settled[live["metadata"]["uid"]] = left
        else:
            self._settled.pop(live["metadata"]["uid"], None)
        return recreated

    async def _send(self, ref: Ref, wanted: Manifest) -> Manifest:
        query = {"fieldManager": names.FIELD_MANAGER, "force": "true"}
        return await self._api.patch(
            _kind_of(ref).path(ref.namespace, ref.name), wanted, APPLY, query
        )

    async def _hand_over(self, ref: Ref, held: Held) -> None:
        """Delete a StatefulSet and leave its pods running, without an owner."""
        await self._delete(ref, held, "Orphan")
        # It stays until the garbage collector has let its pods go.
        for _ in range(HAND_OVER_TRIES):
            if await self._api.find(_kind_of(ref), ref.namespace, ref.name) is None:
                break
            await asyncio.sleep(HAND_OVER_SECONDS)
        self._store.drop(ref, held.uid)

    async def _remove(self, ref: Ref, held: Held, outcome: Outcome) -> None:
        if "deletionTimestamp" in held.body["metadata"]:
            return
        try:
            await self._delete(ref, held, "Background")
        except ApiError as error:
            raise ApplyError(ref, str(error)) from error
        self._settled.pop(held.uid, None)
        outcome.pruned.append(ref)

    async def _delete(self, ref: Ref, held: Held, propagation: str) -> None:
        options = {"propagationPolicy": propagation, "preconditions": {"uid": held.uid}}
        await self._api.delete(_kind_of(ref).path(ref.namespace, ref.name), options)


def _is_ours(live: Manifest, manifest: Manifest, uid: str) -> bool:
    """Controlled by the owner, or by nobody and made for it: data outlives its owner."""
    if controller := controller_of(live):
        return bool(controller["uid"] == uid)
    found, wanted = live["metadata"].get("labels", {}), manifest["metadata"]["labels"]
    return all(found.get(label) == wanted[label] for label in (names.OWNER, names.OWNER_KIND))


def _kind_of(ref: Ref) -> Kind:
    return _KINDS[ref.kind]
