"""Idle peers, peers that do not read, too many peers."""

import asyncio
import socket
import time
from collections.abc import Callable

import pytest

from signpost_namesrv.server.limits import Limits
from signpost_namesrv.server.server import listening_socket
from tests.support.remoting import framed, request

from .harness import both_loops, run, serving, until


@both_loops
async def test_an_idle_peer_is_closed_and_a_busy_one_stays() -> None:
    async with serving(Limits(idle=10.0)) as it:
        idle, busy = await it.good(), await it.good()
        it.server._check_connections()
        it.time += 10.0
        await busy.ask(106)
        it.server._check_connections()
        await busy.ask(106)
        assert it.server.connections == 2  # not longer than its time
        it.time += 0.5
        it.server._check_connections()
        assert await idle.closed()
        assert (await busy.ask(106)).code == 0


@both_loops
async def test_a_peer_that_never_says_anything_idles_out() -> None:
    async with serving(Limits(idle=10.0)) as it:
        silent = await it.connect()
        await until(lambda: it.server.connections == 1)
        for _ in range(3):
            it.server._check_connections()
            it.time += 6.0
        assert await silent.closed()


def test_no_idle_limit_when_it_is_zero() -> None:
    async def main() -> None:
        async with serving(Limits(idle=0)) as it:
            client = await it.good()
            for _ in range(3):
                it.time += 1e9
                it.server._check_connections()
            assert (await client.ask(106)).code == 0

    run(main)


def test_the_watch_runs_by_itself() -> None:
    async def main() -> None:
        async with serving(Limits(idle=0.001)) as it:
            it.server.now = time.monotonic
            assert await (await it.connect()).closed()

    run(main)


@both_loops
async def test_a_peer_that_does_not_read_is_paused_then_closed() -> None:
    limits = Limits(write_high=64 << 10, write_low=16 << 10, write_stall=30.0, idle=0)
    async with serving(limits) as it:
        good = await it.good()
        await good.register(topics={f"topic-{n:05}": 6 for n in range(2_000)})
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", it.port))
        await until(lambda: it.server.connections == 2)
        (deaf,) = [p for p in it.peers if p._transport.get_extra_info("peername")[1] == port(sock)]
        asked = request(206) * 2_000  # their answers would be over 50 MB
        sent = 0
        while deaf.stalled_since is None:
            try:
                sent += sock.send(asked[sent:])
            except BlockingIOError:
                await asyncio.sleep(0.002)
            else:
                await asyncio.sleep(0)
        for _ in range(20):  # it may go on asking: nobody listens
            try:
                sent += sock.send(asked[sent:])
            except BlockingIOError:
                break
            await good.ask(106)
        assert not deaf._reading
        assert deaf._transport.get_write_buffer_size() < limits.write_high + (1 << 20)
        it.time += 30.0
        it.server._check_connections()
        assert it.server.connections == 2
        it.time += 0.5
        it.server._check_connections()
        await until(lambda: it.server.connections == 1)
        assert (await good.ask(106)).code == 0
        sock.close()


@both_loops
async def test_a_slow_reader_gets_all_its_answers() -> None:
    limits = Limits(write_high=64 << 10, write_low=16 << 10)
    async with serving(limits) as it:
        client = await it.good()
        await client.register(topics={f"topic-{n:05}": 6 for n in range(2_000)})
        (peer,) = it.peers
        for opaque in range(300):
            client.send(request(206, opaque=opaque))
        await until(lambda: peer.stalled_since is not None)
        answers = [await client.read() for _ in range(300)]
        assert [a.opaque for a in answers if a] == list(range(300))
        await until(lambda: peer.stalled_since is None)
        assert (await client.ask(106)).code == 0


def port(sock: socket.socket) -> int:
    return int(sock.getsockname()[1])


def test_no_more_connections_than_allowed(logged: Callable[[], list[str]]) -> None:
    async def main() -> None:
        async with serving(Limits(max_connections=3)) as it:
            good = [await it.good() for _ in range(3)]
            for _ in range(5):
                one_too_many = await it.connect()
                assert await one_too_many.closed()
            assert it.server.connections == 3
            assert it.server.stats.connections_refused == 5
            assert it.server.stats.connections_accepted == 3
            for client in good:
                assert (await client.ask(106)).code == 0
            good[0].close()
            await until(lambda: it.server.connections == 2)
            await it.good()

    run(main)
    assert len([line for line in logged() if "too many connections" in line]) == 1


@pytest.mark.parametrize(
    ("limits", "frame", "closed"),
    [
        (Limits(max_frame=1000), framed(b'{"code":106}', bytes(980)), False),
        (Limits(max_frame=1000), framed(b'{"code":106}', bytes(981)), True),
        (Limits(max_header=100), framed(b'{"code":106}' + b" " * 88), False),
        (Limits(max_header=100), framed(b'{"code":106}' + b" " * 89), True),
    ],
)
def test_frames_and_headers_are_bounded(limits: Limits, frame: bytes, closed: bool) -> None:
    async def main() -> None:
        async with serving(limits) as it:
            client = await it.connect()
            client.send(frame)
            assert (await client.read() is None) == closed

    run(main)


@both_loops
async def test_a_vanished_peer_is_noticed_by_tcp() -> None:
    async with serving(Limits(peer_timeout=30)) as it:
        await it.good()
        (peer,) = it.peers
        sock = peer._transport.get_extra_info("socket")
        tcp = socket.IPPROTO_TCP
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert sock.getsockopt(tcp, socket.TCP_NODELAY) == 1
        assert sock.getsockopt(tcp, socket.TCP_USER_TIMEOUT) == 30_000
        idle = sock.getsockopt(tcp, socket.TCP_KEEPIDLE)
        interval = sock.getsockopt(tcp, socket.TCP_KEEPINTVL)
        assert idle + interval * sock.getsockopt(tcp, socket.TCP_KEEPCNT) == 30


@pytest.mark.parametrize("seconds", [1, 2, 5, 6, 7, 30, 31, 120])
def test_any_peer_timeout_makes_valid_options(seconds: int) -> None:
    with listening_socket("127.0.0.1", 0, seconds) as sock:
        tcp = socket.IPPROTO_TCP
        found = sock.getsockopt(tcp, socket.TCP_KEEPIDLE) + sock.getsockopt(
            tcp, socket.TCP_KEEPCNT
        ) * sock.getsockopt(tcp, socket.TCP_KEEPINTVL)
        assert found == max(5, seconds)


def test_a_port_in_use_is_an_os_error() -> None:
    with listening_socket("127.0.0.1", 0, 30) as sock:
        sock.listen()
        with pytest.raises(OSError, match="in use"):
            listening_socket("127.0.0.1", sock.getsockname()[1], 30)
