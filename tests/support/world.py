"""A name server's state without sockets, files or a clock of its own."""

import asyncio
from collections.abc import Generator, Mapping
from typing import Any

from signpost_namesrv.dispatch.dispatcher import dispatch
from signpost_namesrv.dispatch.state import ConfigRefusedError, Peer, PortError, State
from signpost_namesrv.dispatch.warmup import Warmup
from signpost_namesrv.routes.model import MinIdChange
from signpost_namesrv.routes.tables import Tables
from signpost_namesrv.wire.command import Command, decode_frame, encode_frame

from .remoting import Answer, crc, parse, plain_body, request, topic_json, version_json


class FakeKv:
    """In memory. A namespace called `broken` refuses; writes wait for `gate` when it is set."""

    def __init__(self) -> None:
        self.table: dict[str, dict[str, str]] = {}
        self.gate: asyncio.Event | None = None

    def get(self, namespace: str, key: str) -> str | None:
        return self.table.get(namespace, {}).get(key)

    def namespace(self, namespace: str) -> Mapping[str, str] | None:
        return self.table.get(namespace)

    async def put(self, namespace: str, key: str, value: str | None) -> None:
        await self._wait(namespace)
        self.table.setdefault(namespace, {})
        if value is not None:
            self.table[namespace][key] = value

    async def delete(self, namespace: str, key: str) -> None:
        await self._wait(namespace)
        self.table.get(namespace, {}).pop(key, None)

    async def _wait(self, namespace: str) -> None:
        if self.gate is not None:
            await self.gate.wait()
        if namespace == "broken":
            raise PortError("the disk is full")


class FakeConfig:
    def __init__(self) -> None:
        self.updates: list[str] = []

    def text(self) -> str:
        return "listenPort=9876\n"

    def update(self, text: str) -> None:
        if "forbidden" in text:
            raise ConfigRefusedError("forbidden: not in configUpdateKeys")
        self.updates.append(text)


class World:
    """The state and a way to ask it."""

    def __init__(self, **more: Any) -> None:
        self.now = 1_000_000
        self.kv, self.config = FakeKv(), FakeConfig()
        self.told: list[MinIdChange] = []
        more.setdefault("warmup", Warmup(enabled=False, started_ms=0, wait_ms=0))
        self.state = State(
            tables=Tables(),
            kv=self.kv,
            config=self.config,
            now_ms=lambda: self.now,
            notify=self.told.append,
            **more,
        )
        self.peer = Peer("connection", "127.0.0.1")

    def run(self, frame: bytes) -> bytes:
        """The answer's bytes to a request's, both whole frames."""
        outcome: Any = dispatch(self.state, decode_frame(frame[4:]), self.peer)
        if isinstance(outcome, Generator):
            outcome = _finish(outcome)
        elif not isinstance(outcome, Command):
            outcome = asyncio.run(outcome)
        return encode_frame(outcome)

    def ask(
        self, code: int, fields: Mapping[str, Any] | None = None, body: bytes = b"", **more: Any
    ) -> Answer:
        answer = parse(self.run(request(code, fields, body, **more)))
        assert answer.flag == 1
        assert answer.opaque == more.get("opaque", 1)
        return answer

    def register(
        self, name: str = "a", broker_id: int = 0, address: str = "a:1", **more: Any
    ) -> Answer:
        fields, body = registration(name, broker_id, address, **more)
        return self.ask(103, fields, body)


def registration(
    name: str = "a",
    broker_id: int = 0,
    address: str = "a:1",
    topics: Mapping[str, int] | None = None,
    *,
    counter: int = 1,
    state: int = 0,
    filters: tuple[str, ...] = (),
    mappings: Mapping[str, Any] | None = None,
    **fields: str,
) -> tuple[dict[str, str], bytes]:
    """Fields and body of REGISTER_BROKER; topics are given by their permission."""
    found = {"T": 6, "U": 6} if topics is None else topics
    table = {topic: topic_json(topic, perm=perm) for topic, perm in found.items()}
    body = plain_body(table, version_json(counter, state), filters, mappings)
    said = {"brokerName": name, "brokerAddr": address, "brokerId": str(broker_id)}
    said |= {"clusterName": "C", "haServerAddr": f"{address}ha", "bodyCrc32": crc(body)}
    return said | fields, body


def _finish(work: Generator[None, None, Any]) -> Any:
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value
