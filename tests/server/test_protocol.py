"""Requests in, answers out, over real sockets."""

import asyncio

import pytest

from signpost_namesrv.dispatch import dispatcher
from signpost_namesrv.server.limits import Limits
from tests.support.remoting import ONE_WAY, RESPONSE, request
from tests.support.world import registration

from .harness import both_loops, run, serving, until


@both_loops
async def test_a_register_and_a_look_up() -> None:
    async with serving() as it:
        broker, client = await it.connect(), await it.connect()
        assert (await broker.register()).code == 0
        for opaque in (1, 22, 333):
            answer = await client.ask(105, {"topic": "T"}, opaque=opaque)
            assert answer.json()["brokerDatas"][0]["brokerAddrs"] == {"0": "a:1"}
        assert (await client.ask(105, {"topic": "T"}, binary=True)).binary


@both_loops
async def test_many_requests_in_any_pieces() -> None:
    async with serving() as it:
        client = await it.connect()
        await client.register()
        asked = b"".join(request(105, {"topic": "T"}, opaque=n) for n in range(500))
        for start in range(0, len(asked), 997):
            client.send(asked[start : start + 997])
            await asyncio.sleep(0)
        answers = [await client.read() for _ in range(500)]
        assert [a.opaque for a in answers if a] == list(range(500))
        assert {a.body for a in answers if a} == {answers[0].body} if answers[0] else False


@both_loops
async def test_one_way_requests_are_done_and_never_answered() -> None:
    async with serving() as it:
        client = await it.connect()
        fields, body = registration()
        for binary in (False, True):
            client.send(request(103, fields, body, flag=ONE_WAY, binary=binary))
            client.send(request(105, {"topic": "T"}, flag=ONE_WAY, binary=binary))
            client.send(request(12345, flag=ONE_WAY, binary=binary))
            client.send(request(100, {"namespace": "n", "key": "k"}, flag=ONE_WAY, binary=binary))
        assert (await client.ask(106, opaque=99)).opaque == 99
        await until(lambda: it.world.kv.table and it.tables.topics)
        assert (await client.ask(106, opaque=100)).opaque == 100


@both_loops
async def test_answers_to_us_are_ignored() -> None:
    async with serving() as it:
        client = await it.connect()
        fields, body = registration()
        client.send(request(103, fields, body, flag=RESPONSE))
        client.send(request(103, fields, body, flag=RESPONSE | ONE_WAY))
        assert (await client.ask(106, opaque=99)).opaque == 99
        assert not it.tables.groups


@both_loops
async def test_answers_keep_the_order_of_what_was_done_at_once() -> None:
    async with serving() as it:
        client = await it.connect()
        client.send(
            request(106, opaque=1)
            + request(205, {"brokerName": "x"}, opaque=2)
            + request(106, opaque=3)
        )
        answers = [await client.read() for _ in range(3)]
        assert sorted(a.opaque for a in answers if a) == [1, 2, 3]


def test_a_bug_costs_one_answer_not_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise LookupError("a bug")

    def broken_later(*_: object) -> object:
        yield
        raise LookupError("a bug")

    async def broken_on_disk(*_: object) -> None:
        raise LookupError("a bug")

    for code, handler in ((106, broken), (205, broken_later), (100, broken_on_disk)):
        monkeypatch.setitem(dispatcher.HANDLERS, code, handler)

    async def main() -> None:
        async with serving() as it:
            client = await it.connect()
            for code in (106, 205, 100):
                answer = await client.ask(code)
                assert (answer.code, answer.remark) == (1, "internal error: LookupError")
            assert (await client.ask(206)).code == 0

    run(main)


def test_an_answer_that_cannot_be_encoded_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name with half a surrogate pair cannot come in; if it ever does, it must not go far."""

    async def main() -> None:
        async with serving() as it:
            client = await it.connect()
            it.world.kv.table["n"] = {"k": "\ud800"}
            answer = await client.ask(101, {"namespace": "n", "key": "k"})
            assert answer.code == 1
            assert (await client.ask(219, {"namespace": "n"})).code == 1
            assert (await client.ask(106)).code == 0

    run(main)


@both_loops
async def test_requests_in_flight_are_bounded_and_all_answered() -> None:
    async with serving(Limits(max_in_flight=4)) as it:
        it.world.kv.gate = asyncio.Event()
        client = await it.good()
        (peer,) = it.peers
        for number in range(40):
            client.send(request(100, {"namespace": "n", "key": str(number)}, opaque=number))
        client.send(request(106, opaque=777))
        await until(lambda: peer._in_flight == 4)
        other = await it.good()  # nobody else is held up
        assert (await other.ask(106)).code == 0
        assert peer._in_flight == 4
        assert len(it.server._answering) == 4
        it.world.kv.gate.set()
        answers = [await client.read() for _ in range(41)]
        assert sorted(a.opaque for a in answers if a) == [*range(40), 777]
        assert peer._in_flight == 0


@both_loops
async def test_large_requests_in_flight_are_few() -> None:
    """Bodies wait with their requests, so a few large ones are as many as a lot of small ones."""
    async with serving() as it:
        it.world.kv.gate = asyncio.Event()
        client = await it.good()
        body = bytes(3 << 20)
        for number in range(10):
            client.send(request(100, {"namespace": "n", "key": "k"}, body, opaque=number))
        await until(lambda: it.server._answering)
        await (await it.good()).ask(106)
        assert 1 <= len(it.server._answering) <= 2
        assert it.server._buffered <= 3 * (len(body) + 1000)
        it.world.kv.gate.set()
        answers = [await client.read() for _ in range(10)]
        assert sorted(a.opaque for a in answers if a) == list(range(10))


def test_peers_cannot_choose_what_is_counted() -> None:
    async def main() -> None:
        async with serving() as it:
            client = await it.connect()
            for code in range(50_000, 50_300):
                assert (await client.ask(code)).code == 3
            assert len(it.server.stats.requests) <= 2
            assert len(it.server.stats.latency) <= 2

    run(main)
