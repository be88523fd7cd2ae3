"""Run a script against a name server and compare what two servers made of it."""

from __future__ import annotations

import socket
import struct
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from tests.conformance.bodies import parse
from tests.conformance.peer import Frame, Peer, decode
from tests.conformance.processes import NameServer, wait_until
from tests.conformance.script import Step

SECONDS = 10.0
# Settings that two servers on one machine cannot share.
OWN = ("listenPort", "kvConfigPath", "configStorePath", "rocketmqHome")


class Listeners:
    """The brokers' own ports, where a name server reports a new smallest id."""

    def __init__(self, count: int) -> None:
        self._sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
        self.addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in self._sockets]
        self.heard: dict[str, list[Frame]] = defaultdict(list)
        for address, one in zip(self.addresses, self._sockets, strict=True):
            threading.Thread(target=self._accept, args=(address, one), daemon=True).start()

    def _accept(self, address: str, listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=self._read, args=(address, connection), daemon=True).start()

    def _read(self, address: str, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as stream:
            while len(size := stream.read(4)) == 4:
                self.heard[address].append(decode(stream.read(*struct.unpack(">i", size))))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for one in self._sockets:
            one.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
            one.close()


@dataclass(frozen=True, slots=True)
class Observed:
    """What one step brought: an answer, or none, in which case the connection may be closed."""

    step: Step
    answer: Frame | None
    pushed: tuple[Frame, ...] = ()


@dataclass(slots=True)
class Run:
    """One server's connections while a script is read to it."""

    server: NameServer
    listeners: Listeners
    _peers: dict[str, Peer] = field(default_factory=dict)

    def observe(self, script: Iterable[Step]) -> Iterator[Observed]:
        """Read the script to the server, one step after the other, and tell who heard what."""
        self.listeners.heard.clear()
        try:
            for step in script:
                yield self._take(step)
            for address in self.listeners.addresses:
                last = Step(f"all that {address} heard", None, address)
                yield Observed(last, None, tuple(self._heard(address)))
        finally:
            for peer in self._peers.values():
                peer.close()

    def _take(self, step: Step) -> Observed:
        answer = None
        heard = {address: len(self._heard(address)) for address in step.notified}
        if step.request is None:
            self._peers.pop(step.peer).close()
        else:
            peer = self._peers.get(step.peer) or self._peers.setdefault(
                step.peer, Peer(self.server.port, SECONDS)
            )
            answer = peer.call(step.request)
        for address in step.gone:
            self._await(partial(self._forgot, address), f"{step.label}: {address} gone")
        for address, before in heard.items():
            self._await(partial(self._heard_more, address, before), f"{step.label}: {address} told")
        return Observed(step, answer, tuple(self._heard(a)[-1] for a in step.notified))

    def _await(self, condition: Callable[[], bool], what: str) -> None:
        wait_until(condition, what, SECONDS)

    def _forgot(self, address: str) -> bool:
        return not self.server.knows(address)

    def _heard_more(self, address: str, before: int) -> bool:
        return len(self._heard(address)) > before

    def _heard(self, address: str) -> list[Frame]:
        return self.listeners.heard[address]


@dataclass(frozen=True, slots=True)
class Difference:
    """One field in which two answers to the same step differ."""

    label: str
    code: int
    field: str
    java: Any
    ours: Any

    def __str__(self) -> str:
        gap = " " * len(self.field)
        return f"{self.label}\n    {self.field}: Java {self.java!r}\n    {gap}  ours {self.ours!r}"


def compare(java: Observed, ours: Observed) -> Iterator[Difference]:
    """Every field in which the answers differ."""
    code = java.step.request.code if java.step.request else 0
    left, right = facts(code, java.answer), facts(code, ours.answer)
    left["905s"], right["905s"] = len(java.pushed), len(ours.pushed)
    for number, (one, other) in enumerate(zip(java.pushed, ours.pushed, strict=False)):
        left |= {f"905/{number} {key}": value for key, value in facts(905, one).items()}
        right |= {f"905/{number} {key}": value for key, value in facts(905, other).items()}
    if "ROCKETMQ" in (left.get("serialization"), right.get("serialization")):
        # A binary header cannot tell an empty table from none.
        left["fields"], right["fields"] = left.get("fields") or None, right.get("fields") or None
    for key in sorted(left.keys() | right.keys()):
        if left.get(key) != right.get(key):
            yield Difference(java.step.label, code, key, left.get(key), right.get(key))


def facts(code: int, answer: Frame | None) -> dict[str, Any]:
    """An answer field by field, without what no two servers have in common."""
    if answer is None:
        return {"answered": False}
    names = ("code", "remark", "flag", "language", "version", "serialization", "fields")
    found: dict[str, Any] = {"answered": True} | {name: getattr(answer, name) for name in names}
    if code != 905:  # its sender counts as it likes
        found["opaque"] = answer.opaque
    return found | _body(code, answer.body)


def _body(code: int, body: bytes) -> dict[str, Any]:
    if not body:
        return {"body": None}
    if code == 319:
        properties = dict(line.split("=", 1) for line in body.decode().splitlines())
        return {f"body {key}": "set" if key in OWN else value for key, value in properties.items()}
    value, unquoted = parse(body.decode())
    return {f"body {key}": _unordered(key, item) for key, item in value.items()} | {
        "body unquoted": unquoted
    }


def _unordered(key: str, value: Any) -> Any:
    """The value without the orders that are those of Java's hash tables."""
    if key == "topicList":
        return sorted(value, key=str)
    if key == "clusterAddrTable":
        return {cluster: sorted(names, key=str) for cluster, names in value.items()}
    if key == "brokerAddr":  # of 304: any broker that comes first
        return value is not None
    if key in ("brokerDatas", "queueDatas"):
        return sorted(value, key=lambda item: str(item["brokerName"]))
    return value
