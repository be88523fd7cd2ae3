"""Runs of the route health job for Apache's Spark operator, which has no schedules of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from signpost_operator import desired, names
from signpost_operator.api import Manifest
from signpost_operator.desired import Context, CronError, parse_schedule
from signpost_operator.facts import Failure
from signpost_operator.resources import NameServerCluster
from signpost_operator.store import Held, Ref

from .world import World

RUN = "SparkApplication"
_STAMP = "%y%m%d%H%M"
_OVER = ("Succeeded", "Failed", "ResourceReleased", "Terminated", "Released")


@dataclass(slots=True)
class Runs:
    """What is due, what is kept, and when to look again."""

    wanted: list[Manifest] = field(default_factory=list)
    keep: set[Ref] = field(default_factory=set)
    again: float | None = None
    failure: Failure | None = None


def plan(
    world: World, body: Manifest, cluster: NameServerCluster, context: Context, now: datetime
) -> Runs:
    """The objects of the report, and the run that is due."""
    result = Runs()
    given = cluster.spec.report
    if given is None:
        return result
    result.wanted += desired.report(cluster, context)
    if why := desired.missing_api(cluster, context):
        result.failure = Failure("NoSparkOperator", why)
    runs = {
        _time_of(ref, cluster): (ref, held)
        for ref, held in world.owned.owned_by(cluster.uid).items()
        if ref.kind == RUN
    }
    newest = sorted(runs, reverse=True)
    result.keep = {runs[at][0] for at in newest[: given.keep_runs]}
    result.keep |= {ref for ref, held in runs.values() if not _is_over(held)}
    if given.operator != "Apache" or given.suspend:
        return result
    since = newest[0] if newest else datetime.fromisoformat(body["metadata"]["creationTimestamp"])
    try:
        due, following = _due(given.schedule, since, now)
    except CronError as error:
        result.failure = Failure("BadSchedule", f"report.schedule: {error}")
        return result
    if due is not None and (run := desired.report_run(cluster, context, due)):
        result.wanted.append(run)
    if following is not None:
        result.again = max(1.0, (following - now).total_seconds())
    return result


def _due(schedule: str, since: datetime, now: datetime) -> tuple[datetime | None, datetime | None]:
    """The last time that has come since a moment, if any, and the next one. Missed ones are."""
    times, due = parse_schedule(schedule), None
    following = times.after(since)
    while following is not None and following <= now:
        due, following = following, times.after(following)
    return due, following


def _time_of(ref: Ref, cluster: NameServerCluster) -> datetime:
    stamp = ref.name.removeprefix(f"{names.report(cluster.name)}-")
    try:
        return datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)


def _is_over(held: Held) -> bool:
    state = (held.body.get("status") or {}).get("currentState") or {}
    return any(word in str(state.get("currentStateSummary", "")) for word in _OVER)
