"""A client that keeps a copy of the tables by snapshot and watch, and nothing else."""

from typing import Any

from .conftest import House
from .test_changes import Event, Watcher

ROUTES = ("topics", "brokers", "clusters", "mappings", "filter_servers")


class Follower:
    """Its copy, and the id of the last event it saw."""

    def __init__(self, house: House) -> None:
        self._house = house
        self.copy: dict[str, Any] = {}
        self.revision = -1
        self.last_id: str | None = None
        self.resyncs = 0

    async def resync(self) -> None:
        """Start over from a snapshot."""
        document = await self._house.get("/v1/snapshot")
        self.revision = document["revision"]
        self.last_id = f"{document['identity']}:{self.revision}"
        self.copy = normal(document)
        self.resyncs += 1

    async def follow(self, upto: int) -> None:
        """Watch from where it was until it has seen revision `upto`."""
        if self.last_id is None:
            await self.resync()
        while self.revision < upto:
            headers = {"Last-Event-ID": self.last_id or ""}
            async with self._house.client.get("/v1/watch", headers=headers) as response:
                watcher = Watcher(response)
                while self.revision < upto:
                    event = await watcher.next()
                    if event is None:
                        break
                    await self._take(event)

    async def _take(self, event: Event) -> None:
        if event.kind == "resync":
            await self.resync()
        elif event.kind == "changes":
            for change in event.data["changes"]:
                if change["revision"] > self.revision:
                    assert change["revision"] == self.revision + 1
                    self._apply(change)
                    self.revision = change["revision"]
            self.last_id = event.id

    def _apply(self, change: dict[str, Any]) -> None:
        match change["kind"]:
            case "queues":
                key = (change["topic"], change["broker"])
                put(self.copy["topics"], key, change["queues"])
            case "group":
                put(self.copy["brokers"], change["broker"], change["group"])
            case "member":
                member = (change["cluster"], change["broker"])
                put(self.copy["clusters"], member, True if change["present"] else None)
            case "mapping":
                key = (change["topic"], change["broker"])
                put(self.copy["mappings"], key, change["mapping"])
            case "filters":
                key = (change["key"]["cluster"], change["key"]["address"])
                put(self.copy["filter_servers"], key, change["servers"])


def put(table: dict[Any, Any], key: Any, value: Any) -> None:
    if value is None:
        del table[key]  # what was never there cannot go
    else:
        table[key] = value


def normal(document: dict[str, Any]) -> dict[str, Any]:
    """The routes of a snapshot, each fact under a key of its own."""
    return {
        "topics": {(t, q["broker"]): q for t, queues in document["topics"].items() for q in queues},
        "brokers": dict(document["brokers"]),
        "clusters": {(c, b): True for c, names in document["clusters"].items() for b in names},
        "mappings": {(t, b): m for t, by in document["mappings"].items() for b, m in by.items()},
        "filter_servers": {
            (f["cluster"], f["address"]): f["servers"] for f in document["filter_servers"]
        },
    }
