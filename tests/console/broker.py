"""Brokers that register over real sockets, beat when told to, and die by closing them."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Self

from tests.support.remoting import (
    compressed_body,
    parse,
    plain_body,
    request,
    topic_json,
    version_json,
)

REGISTER = 103
WIPE_WRITE = 205
_HOSTS = count(1)


@dataclass
class Broker:
    """One broker, known to the name servers that it was told to register with."""

    name: str
    cluster: str = "main"
    id: int = 0
    address: str = field(default_factory=lambda: f"10.1.0.{next(_HOSTS)}:10911")
    """Brokers are told apart by it."""
    zone: str = ""
    timeout_ms: int = 120_000
    topics: Mapping[str, Any] = field(default_factory=dict)
    many: Sequence[str] = ()
    """Names of topics with four queues, sent compressed."""
    version: int = 1
    """Of its topics: they count when this changed."""
    writers: dict[int, asyncio.StreamWriter] = field(default_factory=dict)
    readers: dict[int, asyncio.StreamReader] = field(default_factory=dict)

    async def register(self, *ports: int) -> Self:
        """Register with these name servers; the connections stay open."""
        for port in ports:
            body = self._body()
            fields = {
                "brokerName": self.name,
                "brokerAddr": self.address,
                "clusterName": self.cluster,
                "haServerAddr": "",
                "brokerId": str(self.id),
                "heartbeatTimeoutMillis": str(self.timeout_ms),
                "compressed": "true" if self.many else "false",
                "bodyCrc32": "0",
            }
            if self.zone:
                fields["__ZONE_NAME"] = self.zone
            await self._ask(port, request(REGISTER, fields, body))
        return self

    async def wipe_write(self, port: int) -> None:
        """Take the write permission of all its topics away."""
        await self._ask(port, request(WIPE_WRITE, {"brokerName": self.name}))

    async def die(self, *ports: int) -> None:
        """Close the connections to these name servers, or to all."""
        for port in ports or tuple(self.writers):
            writer = self.writers.pop(port)
            writer.close()
            with suppress(OSError):  # the name server may have gone first
                await writer.wait_closed()

    def _body(self) -> bytes:
        if self.many:
            return compressed_body(f"{name} 4 4 6 SINGLE_TAG {{}}" for name in self.many)
        return plain_body(self.topics, version_json(self.version))

    async def _ask(self, port: int, frame: bytes) -> None:
        if port not in self.writers:
            self.readers[port], self.writers[port] = await asyncio.open_connection(
                "127.0.0.1", port
            )
        self.writers[port].write(frame)
        length = await self.readers[port].readexactly(4)
        answer = parse(length + await self.readers[port].readexactly(int.from_bytes(length, "big")))
        assert answer.code == 0, answer


def topics(names: Iterable[str], read: int = 4, write: int = 4, perm: int = 6) -> dict[str, Any]:
    """Topics as a broker registers them."""
    return {name: topic_json(name, read, write, perm) for name in names}
