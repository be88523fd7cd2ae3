"""What counts as drift, and what is the API server's own doing."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from signpost_operator.compare import HASH, differences, fingerprint, same, stamped

WANTED: dict[str, Any] = {
    "kind": "Deployment",
    "metadata": {"name": "a", "labels": {"x": "1"}},
    "spec": {
        "replicas": 3,
        "template": {
            "spec": {
                "containers": [
                    {
                        "name": "main",
                        "image": "a:1",
                        "args": ["-c", "file"],
                        "env": [{"name": "A", "value": "1"}],
                        "ports": [{"name": "http", "containerPort": 80, "protocol": "TCP"}],
                        "resources": {"limits": {"cpu": "1000m", "memory": "1024Mi"}},
                        "volumeMounts": [{"name": "v", "mountPath": "/v"}],
                    }
                ],
                "hostNetwork": False,
                "tolerations": [{"key": "k", "operator": "Exists"}],
                "volumes": [{"name": "v", "emptyDir": {}}],
            }
        },
    },
}


def live(**changes: Any) -> dict[str, Any]:
    """What the API server makes of it: defaults, canonical quantities, empty things left out."""
    found = copy.deepcopy(WANTED)
    found["metadata"] |= {"uid": "u", "resourceVersion": "7"}
    found["spec"]["revisionHistoryLimit"] = 10
    pod = found["spec"]["template"]["spec"]
    del pod["hostNetwork"]
    pod["dnsPolicy"] = "ClusterFirst"
    pod["containers"][0]["resources"] = {"limits": {"cpu": "1", "memory": "1Gi"}}
    pod["containers"][0]["terminationMessagePath"] = "/dev/termination-log"
    for path, value in changes.items():
        at: Any = found
        *parents, last = path.split("__")
        for part in parents:
            at = at[int(part)] if part.isdigit() else at[part]
        at[last] = value
    return found


POD = "spec__template__spec__"


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        ({}, set()),
        ({"spec__replicas": 2}, {"spec.replicas"}),
        ({"metadata__labels": {}}, {"metadata.labels.x"}),
        ({"metadata__labels": {"x": "1", "theirs": "2"}}, set()),
        (
            {f"{POD}containers__0__image": "b"},
            {"spec.template.spec.containers[main].image"},
        ),
        (
            {f"{POD}containers__0__args": ["-c"]},
            {"spec.template.spec.containers[main].args"},
        ),
        (
            {f"{POD}containers__0__env": [{"name": "B", "value": "1"}]},
            {"spec.template.spec.containers[main].env[A]"},
        ),
        (
            {f"{POD}containers__0__resources": {"limits": {"cpu": "2", "memory": "1Gi"}}},
            {"spec.template.spec.containers[main].resources.limits.cpu"},
        ),
        ({f"{POD}tolerations": []}, {"spec.template.spec.tolerations"}),
        ({f"{POD}hostNetwork": True}, {"spec.template.spec.hostNetwork"}),
    ],
)
def test_only_what_was_applied_is_compared(changes: dict[str, Any], paths: set[str]) -> None:
    assert differences(WANTED, live(**changes)) == paths


def test_an_injected_container_is_not_ours() -> None:
    found = live()
    found["spec"]["template"]["spec"]["containers"].insert(0, {"name": "mesh", "image": "m"})
    assert not differences(WANTED, found)


@pytest.mark.parametrize(
    ("ours", "theirs", "same"),
    [
        ("0.5", "500m", True),
        ("1e3", "1k", True),
        ("1Ki", "1024", True),
        (2, "2", True),
        ("1G", "1Gi", False),
        ("much", "more", False),
    ],
)
def test_quantities_are_compared_by_what_they_amount_to(
    ours: object, theirs: object, same: bool
) -> None:
    found = differences({"requests": {"cpu": ours}}, {"requests": {"cpu": theirs}})
    assert (not found) == same


def test_elsewhere_numbers_in_text_are_only_text() -> None:
    assert differences({"value": "1"}, {"value": "1.0"}) == {"value"}


def test_the_hash_shows_what_is_no_longer_wanted() -> None:
    before = stamped({"metadata": {"name": "a"}, "spec": {"x": 1, "y": 2}})
    after = stamped({"metadata": {"name": "a"}, "spec": {"x": 1}})
    assert differences(after, before) == {f"metadata.annotations.{HASH}"}


def test_the_order_of_keys_does_not_matter() -> None:
    assert fingerprint({"a": 1, "b": {"c": 2, "d": 3}}) == fingerprint(
        {"b": {"d": 3, "c": 2}, "a": 1}
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "equal"),
    [
        ({"a": 1}, {"a": 1, "b": [], "c": "", "d": 0, "e": False}, True),
        ({"a": [{"x": 1}]}, {"a": [{"x": 1, "y": []}]}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 1, "b": 2}, {"a": 1}, False),
        ({"a": [1]}, {"a": [1, 2]}, False),
        ({"a": [0]}, {"a": [1]}, False),
    ],
)
def test_a_status_is_the_same_whatever_defaults_were_filled_in(
    ours: object, theirs: object, equal: bool
) -> None:
    assert same(ours, theirs) is equal
