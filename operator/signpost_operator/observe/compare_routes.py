"""Where the routes of two name servers differ. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

WRITE = 2


@dataclass(frozen=True, slots=True)
class Routes:
    """A snapshot, boiled down to what is compared and told."""

    digest: str
    brokers: Mapping[str, str]
    """What is known of each broker group, as text to compare."""
    topics: Mapping[str, str]
    writable: frozenset[str]
    """Broker groups with at least one topic that may be written to."""
    kv: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    kv_digest: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """What is not the same everywhere."""

    topics: frozenset[str] = frozenset()
    brokers: frozenset[str] = frozenset()

    def __and__(self, other: Difference) -> Difference:
        return Difference(self.topics & other.topics, self.brokers & other.brokers)

    def __bool__(self) -> bool:
        return bool(self.topics or self.brokers)


def routes_of(snapshot: Mapping[str, Any]) -> Routes:
    """A snapshot of `/v1/snapshot`, boiled down."""
    mappings = snapshot.get("mappings") or {}
    topics: dict[str, str] = {}
    writable: set[str] = set()
    for name, queues in (snapshot.get("topics") or {}).items():
        topics[name] = _text([_sorted(queues), mappings.get(name)])
        writable.update(str(each["broker"]) for each in queues if each["perm"] & WRITE)
    brokers = {name: _text(group) for name, group in (snapshot.get("brokers") or {}).items()}
    return Routes(
        digest=str(snapshot.get("digest", "")),
        brokers=brokers,
        topics=topics,
        writable=frozenset(writable),
        kv=snapshot.get("kv") or {},
        kv_digest=str(snapshot.get("kv_digest", "")),
    )


def difference(several: Iterable[Routes]) -> Difference:
    """The names that not all of them know, or know differently."""
    first, *others = several
    topics: set[str] = set()
    brokers: set[str] = set()
    for other in others:
        topics |= _unequal(first.topics, other.topics)
        brokers |= _unequal(first.brokers, other.brokers)
    return Difference(frozenset(topics), frozenset(brokers))


def _unequal(ours: Mapping[str, str], theirs: Mapping[str, str]) -> set[str]:
    return {name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)}


def _sorted(queues: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(queues, key=lambda each: str(each.get("broker")))


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
