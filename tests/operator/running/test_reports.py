"""Runs of the report under Apache's Spark operator: when due, and how many are kept."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from signpost_operator.api import Api
from signpost_operator.desired import Context
from signpost_operator.handlers.reports import Runs, plan
from signpost_operator.handlers.world import World
from signpost_operator.metrics import Metrics
from signpost_operator.resources import NameServerCluster, parse
from signpost_operator.settings import load
from signpost_operator.store import Ref

MADE = "2026-01-01T00:00:00Z"
CONTEXT = Context(version="1", apis=frozenset({"spark.apache.org"}))


def planned(now: str, runs: dict[str, str] | None = None, **report: Any) -> Runs:
    """The plan at a time; `runs` are there already, by stamp, with their states."""
    body: dict[str, Any] = {
        "metadata": {"name": "ns", "namespace": "a", "uid": "u", "creationTimestamp": MADE},
        "spec": {"report": {"operator": "Apache", "schedule": "0 * * * *", **report}},
    }
    world = World(load([], {}), Api(), Metrics())
    for stamp, state in (runs or {}).items():
        ref = Ref("SparkApplication", "a", f"ns-report-{stamp}")
        owner = {"kind": "NameServerCluster", "name": "ns", "uid": "u", "controller": True}
        metadata = {"name": ref.name, "namespace": "a", "uid": stamp, "resourceVersion": "1"}
        status = {"currentState": {"currentStateSummary": state}}
        world.owned.put(
            ref, {"metadata": metadata | {"ownerReferences": [owner]}, "status": status}
        )
    cluster = parse(NameServerCluster, body)
    return plan(world, body, cluster, CONTEXT, datetime.fromisoformat(now).replace(tzinfo=UTC))


def names(runs: Runs) -> list[str]:
    return [each["metadata"]["name"] for each in runs.wanted if each["kind"] == "SparkApplication"]


def test_nothing_is_due_yet() -> None:
    runs = planned("2026-01-01T00:30:00")
    assert names(runs) == []
    assert runs.again == 1800


def test_a_run_is_due() -> None:
    assert names(planned("2026-01-01T01:00:30")) == ["ns-report-2601010100"]


def test_of_several_missed_runs_only_the_last_is_made() -> None:
    assert names(planned("2026-01-01T09:10:00")) == ["ns-report-2601010900"]


def test_a_run_that_is_there_is_not_made_again() -> None:
    runs = planned("2026-01-01T01:10:00", {"2601010100": "RunningHealthy"})
    assert names(runs) == []
    assert {ref.name for ref in runs.keep} == {"ns-report-2601010100"}


def test_only_the_last_runs_are_kept_and_those_that_still_run() -> None:
    there = {
        "2601010100": "RunningHealthy",
        "2601010200": "Succeeded",
        "2601010300": "Succeeded",
        "2601010400": "Failed",
    }
    runs = planned("2026-01-01T04:10:00", there, keepRuns=2)
    assert {ref.name[-4:] for ref in runs.keep} == {"0100", "0300", "0400"}


def test_a_suspended_report_makes_no_runs() -> None:
    runs = planned("2026-01-01T09:10:00", suspend=True)
    assert names(runs) == []
    assert runs.again is None


def test_a_schedule_that_cannot_be_read_is_told() -> None:
    runs = planned("2026-01-01T09:10:00", schedule="99 * * * *")
    assert runs.failure is not None
    assert runs.failure.reason == "BadSchedule"
