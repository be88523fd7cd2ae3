from typing import Any

import pytest

from signpost_operator.desired.merge import overlay


@pytest.mark.parametrize(
    ("base", "over", "expected"),
    [
        ({"a": 1}, {}, {"a": 1}),
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}),
        ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
        ({"args": ["x"]}, {"args": ["y"]}, {"args": ["y"]}),
        (
            {"env": [{"name": "a", "value": "1"}]},
            {"env": [{"name": "a", "value": "2"}, {"name": "b", "value": "3"}]},
            {"env": [{"name": "a", "value": "2"}, {"name": "b", "value": "3"}]},
        ),
        (
            {"volumeMounts": [{"name": "a", "mountPath": "/a"}]},
            {"volumeMounts": [{"name": "a", "mountPath": "/b"}]},
            {"volumeMounts": [{"name": "a", "mountPath": "/a"}, {"name": "a", "mountPath": "/b"}]},
        ),
    ],
)
def test_overlay(base: dict[str, Any], over: dict[str, Any], expected: dict[str, Any]) -> None:
    before = repr(base)
    assert overlay(base, over) == expected
    assert repr(base) == before
