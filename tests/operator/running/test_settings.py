"""Flags over environment over defaults; bad values named."""

from __future__ import annotations

import pytest

from signpost_operator.settings import SettingsError, load


def test_a_flag_wins_over_the_environment() -> None:
    environment = {
        "SIGNPOST_OPERATOR_WORKERS": "3",
        "SIGNPOST_OPERATOR_NAMESPACES": "a, b",
        "SIGNPOST_OPERATOR_LEADER_ELECTION": "false",
        "POD_NAMESPACE": "system",
        "POD_NAME": "pod-1",
    }
    settings = load(["--workers", "5"], environment)
    assert settings.workers == 5
    assert settings.namespaces == ("a", "b")
    assert not settings.leader_election
    assert (settings.operator_namespace, settings.identity) == ("system", "pod-1")


def test_defaults() -> None:
    settings = load([], {})
    assert settings.namespaces == ()
    assert settings.identity


@pytest.mark.parametrize(
    ("flag", "value"),
    [("--workers", "none"), ("--listen", "8080"), ("--log-level", "loud"), ("--workers", "0")],
)
def test_a_bad_value_is_named(flag: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"{flag} \\('{value}'\\)"):
        load([flag, value], {})
