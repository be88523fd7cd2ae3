"""Partitions, half-open connections, slow servers, brokers that die or merely hang up."""

from __future__ import annotations

import asyncio

import pytest

from signpost_namesrv.sidecar import carrier
from signpost_namesrv.sidecar.drain import Phase
from signpost_namesrv.sidecar.listener import Bounds
from tests.sidecar.actors import Broker, Doorman, table, until
from tests.sidecar.conftest import Stage


async def test_a_partition_delays_nobody_and_is_made_good(stage: Stage) -> None:
    await stage.broker.register("T")
    lost = stage.proxies[0]
    lost.freeze()
    reply = await stage.broker.register("T", "U", counter=2)
    assert reply.code == 0
    assert reply.remark is not None
    assert lost.address in reply.remark
    assert [("U" in server.topics()) for server in stage.servers[1:]] == [True, True]
    await until(lambda: len(stage.sidecar.fleet.up) == 2, "the silent link is given up")
    lost.thaw()
    await until(lambda: "U" in stage.servers[0].topics(), "caught up after the partition")


async def test_a_half_open_connection_is_replaced_at_the_next_beat(stage: Stage) -> None:
    await stage.broker.register("T")
    half = stage.proxies[1]
    half.freeze()
    endpoint = stage.sidecar.fleet.endpoints[1]
    assert (await stage.broker.query()).code == 0
    await until(lambda: not endpoint.up)
    half.thaw()
    await until(lambda: endpoint.catch_ups == 1)


async def test_a_slow_name_server_gets_there_in_the_end(stage: Stage) -> None:
    slow = stage.proxies[2]
    slow.delay = 0.12
    reply = await stage.broker.register("T")
    assert reply.code == 0
    assert reply.remark is not None
    assert "no answer yet" in reply.remark
    await until(lambda: "T" in stage.servers[2].topics())
    assert stage.sidecar.fleet.endpoints[2].connects == 1, "slow, not silent: the link stays"


async def test_a_reset_connection_is_made_good(stage: Stage) -> None:
    await stage.broker.register("T")
    for standing in stage.proxies:
        standing.cut()
    await until(lambda: all(e.catch_ups == 1 for e in stage.sidecar.fleet.endpoints))
    await until(lambda: stage.all_know("T"))


async def test_nonsense_from_a_name_server_costs_its_link_only(stage: Stage) -> None:
    class Nonsense(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            assert isinstance(transport, asyncio.Transport)
            transport.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    liar = await asyncio.get_running_loop().create_server(Nonsense, "127.0.0.1", 0)
    address = f"127.0.0.1:{liar.sockets[0].getsockname()[1]}"
    stage.sidecar.fleet.set([address, *(p.address for p in stage.proxies)])
    endpoint = stage.sidecar.fleet.endpoints[0]
    await until(lambda: "malformed" in endpoint.last_error)
    assert (await stage.broker.register("T")).code == 0
    assert stage.all_know("T")
    liar.close()


async def test_a_broker_that_dies_is_gone_everywhere_at_once(stage: Stage) -> None:
    stage.broker.address = "127.0.0.1:1"  # nobody listens there
    await stage.broker.register("T")
    stage.broker.hang_up()
    await until(lambda: not any(server.brokers() for server in stage.servers), seconds=5)


async def test_a_broker_that_merely_hangs_up_keeps_its_routes(stage: Stage) -> None:
    loop = asyncio.get_running_loop()
    process = await loop.create_server(Doorman, "127.0.0.1", 0)
    probed = asyncio.Event()
    stage.broker.address = f"127.0.0.1:{process.sockets[0].getsockname()[1]}"
    is_there = stage.sidecar._is_there

    async def noticed(address: str) -> bool:
        found = await is_there(address)
        probed.set()
        return found

    stage.sidecar._is_there = noticed  # type: ignore[method-assign]
    await stage.broker.register("T")
    stage.broker.hang_up()
    await probed.wait()
    assert stage.all_know("T")
    again = await Broker("a", 0, stage.broker.address).connect(stage.port)
    assert (await again.register("T")).code == 0
    assert stage.all_know("T")
    process.close()
    again.hang_up()
    await until(lambda: not any(server.brokers() for server in stage.servers))


async def test_malformed_input_costs_its_connection_only(stage: Stage) -> None:
    other = await Broker("b", 0, "10.0.0.9:1").connect(stage.port)
    other._transport.write(b"\xff" * 64)
    await until(lambda: other._transport.is_closing())
    assert (await stage.broker.register("T")).code == 0
    reply = await stage.broker.register_body(b"{]")
    assert reply.code == 1
    assert reply.remark is not None
    assert "RegisterBrokerBody" in reply.remark
    assert stage.all_know("T")


async def test_a_registration_of_nobody_is_refused_and_not_kept(stage: Stage) -> None:
    reply = await stage.broker.ask(103, {"brokerName": "a"}, table("a", "T").plain())
    assert reply.code == 1
    assert not stage.sidecar.carrier.records


async def test_brokers_are_bounded(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrier, "MOST_BROKERS", 1)
    assert (await stage.broker.register("T")).code == 0
    other = await Broker("b", 0, "10.0.0.2:10911").connect(stage.port)
    assert (await other.register("T")).code == 2
    assert (await stage.broker.register("T")).code == 0
    other.hang_up()


async def test_unfinished_frames_are_bounded(stage: Stage) -> None:
    stage.sidecar.listener.bounds = Bounds(max_buffered=1 << 20)
    greedy = [await Broker(f"g{n}").connect(stage.port) for n in range(3)]
    promise = (700_000).to_bytes(4, "big") + (100).to_bytes(4, "big") + bytes(70_000)
    for one in greedy:
        one._transport.write(promise)
    await until(lambda: sum(one._transport.is_closing() for one in greedy) == 2)
    assert (await stage.broker.register("T")).code == 0
    for one in greedy:
        one.hang_up()
    await until(lambda: stage.sidecar.listener._buffered == 0)


async def test_a_drain_takes_the_permission_waits_and_leaves(stage: Stage) -> None:
    await stage.broker.register("T")
    waiting, go_on = asyncio.Event(), asyncio.Event()

    async def sleep(seconds: float) -> None:
        waiting.set()
        await go_on.wait()

    stage.sidecar.drain._sleep = sleep
    draining = asyncio.create_task(stage.sidecar.drain.run())
    await waiting.wait()
    assert [server.queues("T")["a"][2] for server in stage.servers] == [4, 4, 4]
    await stage.broker.register("T", "U", counter=2)
    assert [server.queues("U")["a"][2] for server in stage.servers] == [4, 4, 4]
    stage.servers[0].running.server._connections.copy().pop().abort()
    await until(lambda: stage.sidecar.fleet.endpoints[0].catch_ups == 1)
    assert stage.servers[0].queues("T")["a"][2] == 4, "one that returns is told the same"
    go_on.set()
    await draining
    assert stage.sidecar.drain.phase is Phase.DRAINED
    assert not any(server.brokers() for server in stage.servers)
    reply = await stage.broker.register("T", counter=3)
    assert reply.code == 1
    assert not any(server.brokers() for server in stage.servers), "it does not come back"


async def test_a_broker_that_starts_again_after_a_drain_is_welcome(stage: Stage) -> None:
    stage.broker.address = "127.0.0.1:1"
    await stage.broker.register("T")
    await stage.sidecar.drain.run()
    stage.broker.hang_up()
    await until(lambda: not stage.sidecar.carrier.retired)
    again = await Broker("a", 0, "127.0.0.1:1").connect(stage.port)
    assert (await again.register("T", counter=9)).code == 0
    assert [server.queues("T")["a"][2] for server in stage.servers] == [6, 6, 6]
    again.hang_up()


async def test_draining_a_slave_leaves_its_master_writable(stage: Stage) -> None:
    master = await Broker("a", 0, "10.0.0.1:10911").connect(stage.servers[0].port)
    await master.register("T")
    slave = await Broker("a", 1, "10.0.0.2:10911").connect(stage.port)
    await slave.register("T")
    await stage.sidecar.drain.run()
    assert stage.servers[0].queues("T") == {"a": (4, 4, 6)}
    assert stage.servers[0].brokers() == {"a": {0: "10.0.0.1:10911"}}
    for one in (master, slave):
        one.hang_up()


async def test_a_hundred_thousand_topics_arrive(stage: Stage) -> None:
    """As plain JSON they would not fit the 16 MiB frame of a name server."""
    stage.sidecar.teller._timeout = 60
    stage.sidecar.fleet.set([stage.proxies[0].address])
    topics = [f"some-topic-name-{n:06d}" for n in range(100_000)]
    body = table("a", *topics).plain()
    assert len(body) > 16 * 1024 * 1024
    assert (await stage.broker.register_body(body)).code == 0
    assert len(stage.servers[0].topics()) > 100_000
