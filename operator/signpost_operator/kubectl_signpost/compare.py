"""Where name servers tell different things. Pure."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

TABLES = ("brokers", "topics", "mappings", "kv")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One thing that name servers do not all tell alike."""

    table: str
    name: str
    told: Mapping[str, tuple[str, ...]]
    """The name servers that tell a thing, by that thing; an empty text for nothing at all."""


def disagreements(snapshots: Mapping[str, Mapping[str, Any]]) -> Iterator[Disagreement]:
    """Everything that differs between snapshots, given by name server."""
    for table in TABLES:
        names = {name for snapshot in snapshots.values() for name in snapshot.get(table) or {}}
        for name in sorted(names):
            told: dict[str, list[str]] = {}
            for server, snapshot in sorted(snapshots.items()):
                told.setdefault(_text(table, (snapshot.get(table) or {}).get(name)), []).append(
                    server
                )
            if len(told) > 1:
                yield Disagreement(table, name, {text: tuple(who) for text, who in told.items()})


def _text(table: str, value: Any) -> str:
    """A value as people read it; equal for equal values."""
    if value is None:
        return ""
    if table == "topics":
        return "; ".join(sorted(queues_text(queues) for queues in value))
    if table == "brokers":
        members = sorted(value.get("addresses", {}).items(), key=lambda item: int(item[0]))
        addresses = ", ".join(f"{number}={address}" for number, address in members)
        return f"{value.get('cluster', '?')}: {addresses}"
    return json.dumps(value, sort_keys=True)


def queues_text(queues: Mapping[str, Any]) -> str:
    """A topic's queues on one broker group."""
    counts = f"{queues['read']} to read, {queues['write']} to write"
    return f"{queues['broker']}: {counts}, {perm_text(queues['perm'])}"


def perm_text(perm: int) -> str:
    """Permission bits as letters."""
    return ("r" if perm & 4 else "-") + ("w" if perm & 2 else "-")
