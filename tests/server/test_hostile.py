"""Bytes of any kind never crash, leak or stall the server, and good clients are served."""

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from signpost_namesrv.server.limits import Limits
from tests.support.remoting import framed, request
from tests.support.world import registration

from .harness import Client, Serving, both_loops, run, serving, until

SMALL = Limits(max_frame=1 << 18, max_header=1 << 14, max_buffered=1 << 19)

honest = st.sampled_from(
    [
        request(105, {"topic": "T"}),
        request(105, {"topic": "T"}, binary=True),
        request(103, *registration("x", 0, "x:1")),
        request(104, registration("x", 0, "x:1")[0]),
        request(100, {"namespace": "n", "key": "k", "value": "v"}),
        request(319),
        request(904, registration()[0], flag=2),
        request(106, flag=1),
    ]
)
noise = st.binary(min_size=1, max_size=300)
truncated = st.builds(
    lambda frame, end: frame[: 1 + end % (len(frame) - 1)], honest, st.integers(0)
)
oversized = st.builds(
    lambda size, word: size.to_bytes(4, "big") + word.to_bytes(4, "big") + b"x" * 100,
    st.sampled_from([0, 3, (1 << 18) - 3, 1 << 24, 0x16030100, 2**32 - 1]),
    st.sampled_from([0, 1 << 14, (1 << 14) + 1, 1 << 24, 2**32 - 1]),
)
large = st.builds(
    lambda head, size: framed(head, bytes(size))[: size // 2],
    st.just(b'{"code":103}'),
    st.integers(70_000, 200_000),
)
deep = st.just(framed(b'{"code":1,"x":' + b"[" * 8_000))


@st.composite
def flipped(draw: st.DrawFn) -> bytes:
    frame = bytearray(b"".join(draw(st.lists(honest, min_size=1, max_size=3))))
    for place in draw(st.lists(st.integers(0, 8 * len(frame) - 1), min_size=1, max_size=8)):
        frame[place // 8] ^= 1 << place % 8
    return bytes(frame)


hostile = st.one_of(noise, truncated, oversized, large, deep, flipped(), honest)
attack = st.lists(hostile, min_size=1, max_size=4)
HOW = st.sampled_from(["close", "shut", "stay"])


async def attacked(it: Serving, attacks: list[tuple[list[bytes], str]]) -> None:
    good = await it.good()
    assert (await good.register()).code == 0
    evil: list[Client] = []
    for pieces, how in attacks:
        client = await it.connect()
        evil.append(client)
        for piece in pieces:
            client.send(piece)
            await asyncio.sleep(0)
        if how == "close":
            client.close()
        elif how == "shut" and not client.writer.is_closing():
            client.writer.write_eof()
        assert (await good.ask(105, {"topic": "T"})).code in {0, 17}  # 104 may have removed it
        assert (await good.ask(106, opaque=2)).code == 0
    for client in evil:
        client.close()
    await until(lambda: it.server.connections == 1)
    assert it.server._buffered == 0
    assert (await good.register()).code == 0
    assert (await good.ask(105, {"topic": "T"})).code == 0


@settings(max_examples=100)
@given(st.lists(st.tuples(attack, HOW), min_size=1, max_size=4))
def test_any_bytes(attacks: list[tuple[list[bytes], str]]) -> None:
    async def main() -> None:
        async with serving(SMALL) as it:
            errors: list[object] = []
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(lambda _, context: errors.append(context))
            await attacked(it, attacks)
            assert errors == []

    run(main)


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00" + bytes(100),
        b"\0" * 100,
        framed(b'{"code":1,"x":' + b"[" * 8_000),
        framed(b"{}" * 10),
        framed(b"x", serialization=7),
        (2**31).to_bytes(4, "big") + bytes(4),
    ],
    ids=["http", "tls", "zeros", "deep", "two objects", "serialization", "length"],
)
def test_a_malformed_frame_closes_its_connection_with_one_line(
    data: bytes, logged: Callable[[], list[str]]
) -> None:
    async def main() -> None:
        async with serving(SMALL) as it:
            good = await it.good()
            client = await it.connect()
            client.send(data)
            assert await client.closed()
            assert (await good.ask(106)).code == 0

    run(main)
    assert len([line for line in logged() if "connection closed" in line]) == 1
    assert not [line for line in logged() if "error" in line.split()[:3]]


@both_loops
async def test_what_came_before_a_malformed_frame_is_answered() -> None:
    async with serving(SMALL) as it:
        client = await it.connect()
        client.send(request(106, opaque=5) + bytes(8))
        answer = await client.read()
        assert answer is not None
        assert answer.opaque == 5
        assert await client.closed()


@both_loops
async def test_unfinished_frames_share_a_bounded_memory() -> None:
    async with serving(SMALL) as it:
        good = await it.good()
        half = framed(b'{"code":103}', bytes(200_000))[:100]
        clients = [await it.connect() for _ in range(6)]
        for client in clients:
            client.send(half)
        await until(lambda: it.server.connections == 3)  # two of 200,000 fit, and the good one
        assert it.server._buffered <= SMALL.max_buffered
        assert (await good.ask(106)).code == 0
        for client in clients:
            client.close()
        await until(lambda: it.server._buffered == 0)


@both_loops
async def test_small_unfinished_frames_are_not_refused() -> None:
    async with serving(Limits(max_buffered=0)) as it:
        clients = [await it.connect() for _ in range(10)]
        frame = framed(b'{"code":106,"opaque":3}', bytes(60_000))
        for client in clients:
            client.send(frame[:50_000])
        await until(lambda: it.server.connections == 10)
        for client in clients:
            client.send(frame[50_000:])
            answer = await client.read()
            assert answer is not None
            assert answer.opaque == 3
