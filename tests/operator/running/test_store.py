"""The memory of objects: versions, owners, and what a list did not have."""

from __future__ import annotations

from typing import Any

from signpost_operator.store import Ref, Store, ref_of


def thing(name: str, version: int, uid: str = "", owner: str = "") -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": "ns",
        "uid": uid or f"uid-{name}",
        "resourceVersion": str(version),
        "managedFields": [{"manager": "x"}],
    }
    if owner:
        metadata["ownerReferences"] = [
            {"kind": "Broker", "name": "b", "uid": owner, "controller": True}
        ]
    return {"kind": "Service", "metadata": metadata}


def test_a_known_or_older_version_is_no_news() -> None:
    store, ref = Store(), Ref("Service", "ns", "a")
    assert store.put(ref, thing("a", 9)) is not None
    assert store.put(ref, thing("a", 9)) is None
    assert store.put(ref, thing("a", 8)) is None
    assert store.put(ref, thing("a", 10)) is not None
    assert store.put(ref, thing("a", 3, uid="another")) is not None


def test_what_others_manage_is_not_kept() -> None:
    store, body = Store(), thing("a", 1)
    store.put(ref_of(body), body)
    held = store.get(ref_of(body))
    assert held is not None
    assert "managedFields" not in held.body["metadata"]
    assert "managedFields" in body["metadata"]


def test_objects_are_found_by_owner() -> None:
    store = Store()
    for body in (thing("a", 1, owner="o"), thing("b", 2, owner="o"), thing("c", 3)):
        store.put(ref_of(body), body)
    assert [ref.name for ref in store.owned_by("o")] == ["a", "b"]
    store.put(ref_of(thing("a", 4)), thing("a", 4))
    assert [ref.name for ref in store.owned_by("o")] == ["b"]


def test_the_deletion_of_an_earlier_object_of_the_same_name_changes_nothing() -> None:
    store, ref = Store(), Ref("Service", "ns", "a")
    store.put(ref, thing("a", 5, uid="new"))
    assert store.drop(ref, "old") is None
    assert store.get(ref) is not None
    assert store.drop(ref, "new") is not None
    assert len(store) == 0
    assert not store.owned_by("")


def test_a_list_tells_what_is_gone() -> None:
    store = Store()
    for name in ("a", "b"):
        store.put(Ref("Service", "ns", name), thing(name, 1))
    assert [ref.name for ref, _ in store.vanished("Service", ["uid-a"])] == ["b"]
