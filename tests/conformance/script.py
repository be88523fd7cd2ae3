"""What a script of requests is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from tests.conformance.bodies import Registration
from tests.conformance.peer import Request, Serialization

CLIENT = "client"


@dataclass(frozen=True, slots=True)
class Step:
    """One request over a named connection; without a request, that connection is closed.

    `gone` are broker addresses that must leave the tables before the next step (removal is
    asynchronous in the Java server), `notified` the brokers that a 905 must reach.
    """

    label: str
    request: Request | None
    peer: str = CLIENT
    gone: tuple[str, ...] = ()
    notified: tuple[str, ...] = ()

    def notifying(self, *addresses: str) -> Step:
        """The same step, after which these brokers hear of a new smallest id."""
        return replace(self, notified=addresses)


Script = Iterator[Step]


class How(NamedTuple):
    """In which way a request is sent."""

    version: int = 479
    serialization: Serialization = "JSON"
    language: str = "JAVA"
    flag: int = 0


NEW, OLD, BINARY, ONE_WAY = How(), How(version=400), How(serialization="ROCKETMQ"), How(flag=2)


def ask(label: str, code: int, body: bytes = b"", how: How = NEW, /, **fields: str) -> Step:
    """A request of a client."""
    request = Request(code, fields, body, *how)
    return Step(f"{label}: {code} {fields}", request)


def look(label: str, *topics: str) -> Script:
    """Everything a client can see: the tables, and the routes of some topics in both dialects."""
    for code in (106, 206, 304, 311, 312, 313):
        yield ask(label, code)
    for topic in topics:
        yield ask(label, 105, topic=topic)
        yield ask(label, 105, b"", OLD, topic=topic)


@dataclass(frozen=True, slots=True)
class Member:
    """A broker process: one address under one id of one group."""

    group: str
    broker_id: int
    address: str
    cluster: str = "C"

    @property
    def fields(self) -> dict[str, str]:
        return {
            "brokerName": self.group,
            "brokerAddr": self.address,
            "clusterName": self.cluster,
            "brokerId": str(self.broker_id),
        }

    def register(
        self, body: Registration | bytes, how: How = NEW, /, **fields: str | None
    ) -> Request:
        """A registration; a field given as None is left out."""
        given: dict[str, str | None] = {
            **self.fields,
            "haServerAddr": f"ha-of-{self.address}",
            **fields,
        }
        kept = {key: value for key, value in given.items() if value is not None}
        return Request(103, kept, body if isinstance(body, bytes) else body.plain(), *how)

    def joins(
        self, label: str, body: Registration | bytes, how: How = NEW, /, **fields: str | None
    ) -> Step:
        """A registration over this broker's own connection."""
        request = self.register(body, how, **fields)
        return Step(f"{label}: {self.address} registers", request, self.address)

    def leaves(self, label: str) -> Step:
        """Unregistration by request."""
        request = Request(104, self.fields)
        return Step(f"{label}: {self.address} unregisters", request, self.address, (self.address,))

    def hangs_up(self, label: str) -> Step:
        """Removal because the connection closed."""
        return Step(f"{label}: {self.address} hangs up", None, self.address, (self.address,))
