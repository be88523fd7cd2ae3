"""Applying, against an API server of a few lines: what is sent, and above all what is not."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from signpost_operator import names
from signpost_operator.api import Api, InvalidError, Manifest, Query
from signpost_operator.api.kinds import NAME_SERVER_CLUSTER
from signpost_operator.apply import Applier, Outcome, OwnerGoneError
from signpost_operator.store import Ref, Store, ref_of

OWNER: Manifest = {
    "kind": "NameServerCluster",
    "metadata": {"name": "ns", "namespace": "a", "uid": "u"},
}


class Fake(Api):
    """Objects by path. `mutate` is a webhook; `refuse` says what breaks a rule."""

    def __init__(self) -> None:
        self.objects: dict[str, Manifest] = {
            NAME_SERVER_CLUSTER.path("a", "ns"): copy.deepcopy(OWNER)
        }
        self.writes: list[str] = []
        self.version = 0
        self.mutate: Callable[[Manifest], None] = lambda body: None
        self.refuse: Callable[[Manifest, Manifest], bool] = lambda old, new: False

    async def get(self, path: str, query: Query | None = None) -> Manifest:
        if path not in self.objects:
            return await super().get(path)
        return self.objects[path]

    async def find(self, kind: Any, namespace: str, name: str) -> Manifest | None:
        return self.objects.get(kind.path(namespace, name))

    async def patch(
        self, path: str, body: object, content_type: str, query: Query | None = None
    ) -> Manifest:
        assert isinstance(body, dict)
        self.writes.append(f"PATCH {path.rsplit('/', 2)[1]}")
        live = copy.deepcopy(body)
        old = self.objects.get(path)
        if old is not None and self.refuse(old, live):
            raise InvalidError(422, "Invalid", "updates are forbidden")
        self.version += 1
        uid = old["metadata"]["uid"] if old else f"uid-{self.version}"
        live["metadata"] |= {"uid": uid, "resourceVersion": str(self.version)}
        self.mutate(live)
        self.objects[path] = live
        return live

    async def delete(self, path: str, options: Manifest) -> None:
        self.writes.append(f"DELETE {path.rsplit('/', 2)[1]} {options['propagationPolicy']}")
        del self.objects[path]


class World:
    """An applier, its store and the fake API server."""

    def __init__(self) -> None:
        self.api = Fake()
        self.store = Store()
        self.applier = Applier(self.api, self.store)

    async def converge(self, *wanted: Manifest, keep: set[Ref] | None = None) -> Outcome:
        self.api.writes.clear()
        return await self.applier.converge(OWNER, NAME_SERVER_CLUSTER, wanted, keep or set())

    def drift(self, manifest: Manifest, **spec: Any) -> None:
        """Somebody changes an object, and the watch shows it."""
        ref = ref_of(manifest)
        held = self.store.get(ref)
        assert held is not None
        body = held.body
        self.api.version += 1
        body["spec"] |= spec
        body["metadata"]["resourceVersion"] = str(self.api.version)
        self.store.put(ref, body)


@pytest.fixture
def world() -> World:
    return World()


def thing(kind: str = "Service", name: str = "x", **spec: Any) -> Manifest:
    api = {"Service": "v1", "StatefulSet": "apps/v1"}[kind]
    metadata = {
        "name": name,
        "namespace": "a",
        "labels": names.labels("NameServerCluster", "ns", names.NAMESRV),
        "ownerReferences": [names.owner_reference("NameServerCluster", "ns", "u")],
    }
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": {"a": 1, **spec}}


async def test_what_is_there_is_not_sent_again(world: World) -> None:
    assert [ref.name for ref in (await world.converge(thing())).created] == ["x"]
    outcome = await world.converge(thing())
    assert not outcome
    assert world.api.writes == []


async def test_a_change_an_edit_and_a_removal(world: World) -> None:
    await world.converge(thing(), thing(name="y"))
    assert (await world.converge(thing(b=2), thing(name="y"))).updated == [ref_of(thing())]
    world.drift(thing(), a=7)
    [(ref, paths)] = (await world.converge(thing(b=2), thing(name="y"))).repaired
    assert (ref.name, paths) == ("x", frozenset({"spec.a"}))
    assert (await world.converge(thing(b=2))).pruned == [ref_of(thing(name="y"))]
    assert world.api.writes == ["DELETE services Background"]


async def test_what_is_kept_is_not_removed(world: World) -> None:
    await world.converge(thing(), thing(name="y"))
    assert not await world.converge(thing(), keep={ref_of(thing(name="y"))})


async def test_what_was_deleted_is_a_repair(world: World) -> None:
    await world.converge(thing())
    held = world.store.get(ref_of(thing()))
    assert held is not None
    world.store.drop(ref_of(thing()), held.uid)
    world.api.objects = {NAME_SERVER_CLUSTER.path("a", "ns"): OWNER}
    [(ref, paths)] = (await world.converge(thing())).repaired
    assert (ref.name, paths) == ("x", frozenset({"it was deleted"}))


async def test_a_webhook_that_insists_is_not_fought(world: World) -> None:
    world.api.mutate = lambda body: body["spec"].update(a=99)
    await world.converge(thing())
    assert not await world.converge(thing())
    assert world.api.writes == []
    world.drift(thing(), a=100, b=3)
    assert not await world.converge(thing())
    assert (await world.converge(thing(b=2))).updated == [ref_of(thing())]


async def test_nothing_is_made_for_an_owner_that_is_gone(world: World) -> None:
    world.api.objects[NAME_SERVER_CLUSTER.path("a", "ns")]["metadata"]["uid"] = "another"
    with pytest.raises(OwnerGoneError):
        await world.converge(thing())
    assert world.api.writes == []


async def test_a_failure_stops_before_anything_is_removed(world: World) -> None:
    await world.converge(thing(), thing(name="y"))
    world.api.refuse = lambda old, new: True
    outcome = await world.converge(thing(b=2))
    assert outcome.failure is not None
    assert str(outcome.failure) == "Service x: updates are forbidden"
    assert outcome.pruned == []


async def test_a_stateful_set_that_cannot_change_is_replaced(world: World) -> None:
    await world.converge(thing("StatefulSet"))
    world.api.refuse = lambda old, new: bool(old["spec"] != new["spec"])
    outcome = await world.converge(thing("StatefulSet", b=2))
    assert [ref.kind for ref in outcome.recreated] == ["StatefulSet"]
    assert world.api.writes == [
        "PATCH statefulsets",
        "DELETE statefulsets Orphan",
        "PATCH statefulsets",
    ]
