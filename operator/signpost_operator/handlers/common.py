"""What reconciling a NameServerCluster and a Broker have in common."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime

from signpost_operator.api import Kind, Manifest
from signpost_operator.apply import Outcome
from signpost_operator.compare import same
from signpost_operator.desired import Context
from signpost_operator.facts import Change, Failure
from signpost_operator.names import PAUSED
from signpost_operator.status import Told
from signpost_operator.store import Ref

from .world import World

log = logging.getLogger("signpost.reconcile")


@dataclass(frozen=True, slots=True)
class Done:
    """How a reconciliation ended."""

    outcome: str
    """For the metrics: unchanged, changed, refused, failed."""
    again: float | None = None
    """When to look again, in seconds."""


class NotAppliedError(Exception):
    """Something could not be applied; the status and an event have said so already."""


def now() -> str:
    """The time as Kubernetes writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def is_paused(body: Manifest) -> bool:
    """Whether changes are stopped."""
    annotations = body["metadata"].get("annotations") or {}
    return bool(annotations.get(PAUSED) == "true")


async def conclude(
    world: World, kind: Kind, body: Manifest, told: Told, outcome: Outcome | None = None
) -> Done:
    """Write the status if it is another one, tell what happened, and log what was done."""
    # The API server fills in defaults of the status, too.
    if not same(told.status, body.get("status") or {}):
        live = await world.applier.write_status(kind, body, told.status)
        live = {"apiVersion": kind.api_version, "kind": kind.name, **live}
        world.resource_seen(_ref(body), live)
    for event in told.events:
        await world.teller.tell(body, event)
    if outcome is None:
        return Done("refused")
    for ref, _ in outcome.repaired:
        world.metrics.repairs.labels(ref.kind).inc()
    if outcome:
        log.info("changed", extra={"resource": _name(body), **_counts(outcome)})
    if outcome.failure is not None:
        log.warning("not applied: %s", outcome.failure, extra={"resource": _name(body)})
        raise NotAppliedError(str(outcome.failure)) from outcome.failure
    return Done("changed" if outcome else "unchanged")


def changes_of(outcome: Outcome) -> tuple[Change, ...]:
    """What was done, as the status tells it."""
    made: list[Change] = [Change("created", ref.kind, ref.name) for ref in outcome.created]
    made += [Change("updated", ref.kind, ref.name) for ref in outcome.updated]
    made += [
        Change("repaired", ref.kind, ref.name, ", ".join(sorted(paths)[:5]))
        for ref, paths in outcome.repaired
    ]
    made += [Change("recreated", ref.kind, ref.name) for ref in outcome.recreated]
    made += [Change("pruned", ref.kind, ref.name) for ref in outcome.pruned]
    return tuple(made)


def failure_of(outcome: Outcome) -> Failure | None:
    """What stopped it, as the status tells it."""
    return None if outcome.failure is None else Failure("ApplyFailed", str(outcome.failure))


def context_of(world: World) -> Context:
    """What the builders know besides the resources."""
    settings = world.settings
    given: dict[str, str] = {}
    if settings.image:
        given["namesrv_image"] = settings.image
    if settings.report_image:
        given["report_image"] = settings.report_image
    return Context(
        version=settings.version,
        operator_namespace=settings.operator_namespace,
        apis=world.apis,
        **given,
    )


def _ref(body: Manifest) -> Ref:
    return Ref(body["kind"], body["metadata"]["namespace"], body["metadata"]["name"])


def _name(body: Manifest) -> str:
    return f"{body['kind']} {body['metadata']['namespace']}/{body['metadata']['name']}"


def _counts(outcome: Outcome) -> dict[str, int]:
    counted = {
        "made": len(outcome.created),
        "updated": len(outcome.updated),
        "repaired": len(outcome.repaired),
        "replaced": len(outcome.recreated),
        "pruned": len(outcome.pruned),
    }
    return {name: count for name, count in counted.items() if count}
