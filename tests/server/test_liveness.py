"""Connections that close, and the brokers that lived by them."""

import asyncio
import gc

import pytest

from signpost_namesrv.dispatch import brokers
from signpost_namesrv.routes import removal
from tests.support.remoting import framed, request
from tests.support.world import registration

from .harness import both_loops, run, serving, until

MANY = {f"topic-{number}": 6 for number in range(5_000)}


@both_loops
async def test_a_broker_goes_with_its_connection() -> None:
    async with serving() as it:
        broker = await it.connect()
        await broker.register()
        await broker.register("b", 0, "b:1")
        broker.close()
        await until(lambda: not it.tables.groups)
        assert not it.tables.topics
        assert not it.tables.live
        assert it.server.stats.departures == {"connection closed": 2}


@both_loops
async def test_an_orderly_goodbye_counts_as_well() -> None:
    async with serving() as it:
        broker = await it.connect()
        await broker.register()
        broker.writer.write_eof()
        assert await broker.closed()
        await until(lambda: not it.tables.groups)


@both_loops
async def test_a_late_close_never_removes_a_broker_that_came_again() -> None:
    async with serving() as it:
        old, new, other = await it.connect(), await it.connect(), await it.good()
        await old.register()
        await new.register()  # the same words: a renewal
        await other.register("b", 0, "b:1")
        old.close()
        await until(lambda: it.server.connections == 2)
        other.close()
        await until(lambda: "b" not in it.tables.groups)
        assert it.tables.groups["a"].addresses == {0: "a:1"}
        old = await it.connect()
        await old.register(counter=2, topics={})  # other words: read anew
        new.close()
        await until(lambda: it.server.connections == 1)
        assert (await old.ask(106)).code == 0
        assert it.tables.groups["a"].addresses == {0: "a:1"}


def test_closes_at_one_time_are_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[int] = []
    remove = removal.remove

    def counted(*args: object) -> object:
        passes.append(len(args[2]))  # type: ignore[arg-type]
        return remove(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(removal, "remove", counted)

    async def main() -> None:
        async with serving() as it:
            clients = [await it.connect() for _ in range(20)]
            for number, client in enumerate(clients):
                await client.register(f"b{number}", 0, f"b:{number}")
            for peer in it.peers:
                peer.abort()
            await until(lambda: not it.tables.groups)
            assert sum(passes) == 20
            assert len(passes) <= 2

    run(main)


@both_loops
async def test_a_connection_that_closes_while_its_registration_is_under_way() -> None:
    async with serving() as it:
        client = await it.good()
        fields, body = registration(topics=MANY)
        client.send(request(103, fields, body))
        await until(lambda: it.tables.topics)  # it has begun
        assert not it.tables.live
        client.close()
        await until(lambda: it.server.connections == 0)
        await until(lambda: it.server.writer._idle.is_set() and not it.server._gone)
        await until(lambda: not it.tables.groups)
        assert not it.tables.topics
        assert not it.tables.live


@both_loops
async def test_a_registration_that_waits_while_its_connection_closes() -> None:
    async with serving() as it:
        first, second = await it.good(), await it.good()
        first.send(request(103, *registration("x", 0, "x:1", MANY)))
        await until(lambda: it.tables.topics)
        second.send(request(103, *registration("y", 0, "y:1")))
        await until(lambda: len(it.server.writer._jobs) > 1)
        second.close()
        assert await first.read()
        await until(lambda: it.server.connections == 1 and "y" not in it.tables.groups)
        await first.ask(106)
        assert set(it.tables.groups) == {"x"}


@both_loops
async def test_an_answer_that_comes_between_abort_and_close() -> None:
    """The connection is still to be cleaned up: its unfinished frame gives its memory back."""
    async with serving() as it:
        it.world.kv.gate = asyncio.Event()
        client = await it.good()
        (peer,) = it.peers
        client.send(request(100, {"namespace": "n", "key": "k", "value": "v"}))
        client.send(framed(b'{"code":103}', bytes(200_000))[:100])
        await until(lambda: it.server._answering and it.server._buffered)
        it.world.kv.gate.set()
        peer.abort()
        await until(lambda: it.server.connections == 0)
        assert it.server._buffered == 0


@both_loops
async def test_look_ups_are_served_during_a_long_registration() -> None:
    async with serving() as it:
        broker, client = await it.good(), await it.good()
        await broker.register("z", 0, "z:1", {"T": 6, "U": 6})
        broker.send(request(103, *registration("x", 0, "x:1", MANY)))
        await until(lambda: len(it.tables.topics) > 2)
        answered = 0
        while len(it.tables.topics) < len(MANY):
            assert (await client.ask(105, {"topic": "T"})).code == 0
            answered += 1
        assert answered > 1
        assert await broker.read()


@both_loops
async def test_silent_brokers_go_with_their_connections() -> None:
    async with serving() as it:
        silent, lively = await it.good(), await it.good()
        await silent.register(heartbeatTimeoutMillis="1000")
        await lively.register("b", 0, "b:1", heartbeatTimeoutMillis="1000")
        it.world.now += 1_000
        it.server.writer.submit(it.server._expire(), lambda _: None)
        assert set(it.tables.groups) == {"a", "b"}
        await lively.ask(904, registration("b", 0, "b:1")[0])
        it.world.now += 1
        it.server.writer.submit(it.server._expire(), lambda _: None)
        assert await silent.closed()
        assert set(it.tables.groups) == {"b"}
        assert it.server.stats.departures == {"silent": 1}


@both_loops
async def test_the_scan_runs_by_itself() -> None:
    async with serving(scan_interval=0.001) as it:
        broker = await it.good()
        await broker.register(heartbeatTimeoutMillis="1000")
        it.world.now += 1_001
        assert await broker.closed()
        await until(lambda: not it.tables.groups)


def test_a_failing_scan_does_not_stop_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    failures = iter([True, True])

    def remove(*args: object) -> object:
        if next(failures, False):
            raise LookupError("a bug")
        return original(*args)  # type: ignore[arg-type]

    original = brokers.remove
    monkeypatch.setattr(brokers, "remove", remove)

    async def main() -> None:
        async with serving(scan_interval=0.001) as it:
            broker = await it.good()
            await broker.register(heartbeatTimeoutMillis="1000")
            for peer in it.peers:  # so that only the scan can find it
                it.tables._connections.pop(peer)
            next(iter(it.tables.live.values())).connection = None
            it.world.now += 1_001
            await until(lambda: not it.tables.groups)

    run(main)


@both_loops
async def test_the_group_is_told_of_a_lost_master() -> None:
    """Brokers listen on their own port: that is where the message goes."""
    async with serving() as it:
        heard: asyncio.Queue[bytes] = asyncio.Queue()

        async def slave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            heard.put_nowait(await reader.read())
            writer.close()

        listening = await asyncio.start_server(slave, "127.0.0.1", 0)
        errors: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, what: errors.append(what))
        address = f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        it.world.state.policy = type(it.world.state.policy)(notify_min_id_change=True)
        client, master = await it.good(), await it.good()
        await client.register("a", 1, address, enableActingMaster="true")
        await client.register("a", 2, "127.0.0.1:99999999", enableActingMaster="true")
        await client.register("a", 3, "nonsense", enableActingMaster="true")
        await master.register("a", 0, "127.0.0.1:1", enableActingMaster="true")
        joined = await asyncio.wait_for(heard.get(), 10)
        assert b'"minBrokerId":"0"' in joined
        master.close()
        left = await asyncio.wait_for(heard.get(), 10)
        assert b'"minBrokerId":"1"' in left
        assert b'"offlineBrokerAddr":"127.0.0.1:1"' in left
        await until(lambda: len(it.server._tasks) == 2)
        gc.collect()
        assert errors == []
        listening.close()
        await listening.wait_closed()
