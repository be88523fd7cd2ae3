"""Conditions and events: what they are made of, and what is kept of the ones before. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from signpost_operator.facts import Change

Truth = Literal["True", "False", "Unknown"]

LONGEST = 1000
_VERBS = {
    "created": "Created",
    "updated": "Updated",
    "repaired": "Repaired",
    "recreated": "Recreated",
    "pruned": "Removed",
}


@dataclass(frozen=True, slots=True)
class Event:
    """Something to tell whoever looks at the resource."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What a condition should say now."""

    type: str
    status: Truth
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Told:
    """A new status, and the events that say how it came about."""

    status: dict[str, Any]
    events: tuple[Event, ...]


GOOD: Mapping[str, Truth] = {
    "Ready": "True",
    "Progressing": "False",
    "Degraded": "False",
    "RoutesConsistent": "True",
    "RouteHealthy": "True",
}
"""How each condition should be; anything else is worth a warning once it is lasting."""

_CALM = frozenset({"Ready", "Progressing"})
_DECISIONS = frozenset({"Paused", "Draining", "WaitingForAddresses"})
"""Reasons that are told though their condition did not turn."""


def previous(status: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """A condition of the status before; empty when it had none."""
    return next((c for c in status.get("conditions") or () if c.get("type") == kind), {})


def conditions(
    before: Mapping[str, Any], findings: Iterable[Finding], generation: int, now: str
) -> list[dict[str, Any]]:
    """The new conditions; the time of one that did not turn stays."""
    return [_condition(previous(before, f.type), f, generation, now) for f in findings]


def _condition(
    before: Mapping[str, Any], finding: Finding, generation: int, now: str
) -> dict[str, Any]:
    same = before.get("status") == finding.status
    return {
        "type": finding.type,
        "status": finding.status,
        "reason": finding.reason,
        "message": cut(finding.message),
        "observedGeneration": generation,
        "lastTransitionTime": before.get("lastTransitionTime", now) if same else now,
    }


def events(
    before: Mapping[str, Any], findings: Iterable[Finding], changes: Iterable[Change]
) -> tuple[Event, ...]:
    """One for each change, and for each condition that turned or has another reason now."""
    return (*_of_changes(changes), *_of_conditions(before, findings))


def _of_conditions(before: Mapping[str, Any], findings: Iterable[Finding]) -> Iterable[Event]:
    for finding in findings:
        last = previous(before, finding.type)
        if (last.get("status"), last.get("reason")) == (finding.status, finding.reason):
            continue
        good = finding.status == GOOD[finding.type]
        # Not ready yet, or under way: no trouble, and its steps are no news. What is the
        # trouble, Degraded says.
        calm = good or finding.type in _CALM
        turned = bool(last) and last.get("status") != finding.status
        if finding.type in _CALM and not turned and finding.reason not in _DECISIONS:
            continue
        # What is good from the start needs no word; what nobody knows is no news either.
        if finding.status == "Unknown" or (good and not last):
            continue
        yield Event("Normal" if calm else "Warning", finding.reason, cut(finding.message))


def _of_changes(changes: Iterable[Change]) -> Iterable[Event]:
    made: dict[str, list[str]] = {}
    for change in changes:
        if change.action == "repaired":
            what = f": {change.detail}" if change.detail else ""
            message = f"{change.kind} {change.name} was changed by somebody else{what}"
            yield Event("Warning", "Repaired", cut(message))
        else:
            made.setdefault(change.action, []).append(f"{change.kind} {change.name}")
    for action, objects in made.items():
        yield Event("Normal", _VERBS[action], cut(f"{_VERBS[action]} {', '.join(objects)}"))


def cut(text: str) -> str:
    """Short enough for the API."""
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def listed(items: Sequence[str], most: int = 5) -> str:
    """The first few, and how many more there are."""
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
