"""A stage for the sidecar: three name servers of ours, the sidecar, a broker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest

from signpost_namesrv.sidecar.link import Dialling
from signpost_namesrv.sidecar.sidecar import Options, Sidecar
from tests.sidecar.actors import Broker, Server, servers, until
from tests.sidecar.proxy import Proxy, proxy

QUICK = Dialling(connect_timeout=0.3, request_timeout=0.3)


@dataclass
class Stage:
    sidecar: Sidecar
    port: int
    servers: list[Server]
    broker: Broker
    proxies: list[Proxy]

    def all_know(self, topic: str) -> bool:
        return all(topic in server.topics() for server in self.servers)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """Each name server stands behind a proxy of its own."""
    async with AsyncExitStack() as stack:
        cast = await stack.enter_async_context(servers(3))
        proxies = [await stack.enter_async_context(proxy(server.port)) for server in cast]
        options = Options(
            port=0, answer_wait=0.2, register_timeout=0.5, drain_wait=0.5, dialling=QUICK
        )
        sidecar = Sidecar(options)
        port = await sidecar.start()
        stack.push_async_callback(sidecar.stop)
        sidecar.fleet.set(p.address for p in proxies)
        await until(lambda: len(sidecar.fleet.up) == 3)
        broker = await Broker().connect(port)
        stack.callback(broker.hang_up)
        yield Stage(sidecar, port, cast, broker, proxies)
