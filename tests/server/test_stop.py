"""Stopping: what is under way ends, and nothing outlives the grace period."""

import asyncio

from signpost_namesrv.server.server import Server
from tests.support.remoting import request
from tests.support.world import World, registration

from .harness import PATIENCE, Client, Serving, both_loops, until


async def started() -> Serving:
    it = Serving(None, None)
    it.port = await it.server.start("127.0.0.1", 0)
    return it


async def ended(it: Serving, client: Client) -> None:
    """Nothing runs any more but the test."""
    assert await client.closed()
    await it.disconnect()
    await until(lambda: it.server.connections == 0)
    assert not it.server._answering
    assert len(asyncio.all_tasks()) == 1


@both_loops
async def test_idle_connections_are_closed_at_once() -> None:
    it = await started()
    client = await it.good()
    async with asyncio.timeout(PATIENCE):
        await it.server.stop(1_000.0)
    await ended(it, client)


@both_loops
async def test_registrations_and_disk_writes_under_way_are_answered() -> None:
    it = await started()
    it.world.kv.gate = asyncio.Event()
    client = await it.good()
    many = {f"topic-{number}": 6 for number in range(3_000)}
    client.send(request(100, {"namespace": "n", "key": "k", "value": "v"}, opaque=7))
    client.send(request(103, *registration(topics=many), opaque=8))
    await until(lambda: it.tables.topics and it.server._answering)
    stopping = asyncio.ensure_future(it.server.stop(1_000.0))
    first = await client.read()
    assert first is not None
    assert (first.opaque, first.code) == (8, 0)
    assert not stopping.done()
    it.world.kv.gate.set()
    second = await client.read()
    assert second is not None
    assert (second.opaque, second.code) == (7, 0)
    await stopping
    assert it.world.kv.table == {"n": {"k": "v"}}
    await ended(it, client)


@both_loops
async def test_the_grace_period_is_the_end() -> None:
    it = await started()
    it.world.kv.gate = asyncio.Event()  # never
    client = await it.good()
    client.send(request(100, {"namespace": "n", "key": "k", "value": "v"}))
    await until(lambda: it.server._answering)
    async with asyncio.timeout(PATIENCE):
        await it.server.stop(0.01)
    await ended(it, client)


@both_loops
async def test_a_peer_that_does_not_read_does_not_hold_it_up() -> None:
    it = await started()
    client = await it.good()
    await client.register(topics={f"topic-{n:05}": 6 for n in range(2_000)})
    (peer,) = it.peers
    client.writer.transport.pause_reading()  # type: ignore[attr-defined]
    for _ in range(500):
        client.send(request(206))
    await until(lambda: peer.stalled_since is not None)
    async with asyncio.timeout(PATIENCE):
        await it.server.stop(0.05)
    client.writer.transport.resume_reading()  # type: ignore[attr-defined]
    await ended(it, client)


@both_loops
async def test_nobody_new_comes_in_while_stopping() -> None:
    it = await started()
    it.world.kv.gate = asyncio.Event()
    client = await it.good()
    client.send(request(100, {"namespace": "n", "key": "k", "value": "v"}))
    await until(lambda: it.server._answering)
    stopping = asyncio.ensure_future(it.server.stop(1_000.0))
    await until(lambda: not it.server._server.is_serving())
    try:
        late = await it.connect()
    except ConnectionError:
        pass
    else:
        assert await late.closed()
    assert not stopping.done()
    it.world.kv.gate.set()
    await stopping
    await ended(it, client)


@both_loops
async def test_a_server_that_nobody_found() -> None:
    server = Server(World().state)
    await server.start("127.0.0.1", 0)
    await server.stop(0.0)
    assert len(asyncio.all_tasks()) == 1
