"""Plain and TLS on the server's own port, by mode."""

import asyncio
from typing import Any

import pytest

from signpost_namesrv.app.adapters import TlsDoor
from signpost_namesrv.tls import ClientAuth, TlsFiles, TlsMode, open_server_tls
from tests.support.remoting import request
from tests.tls.conftest import Pki

from .harness import GONE, Serving, run, serving, until

MANY = {f"topic-{number}": 6 for number in range(2_000)}


def door(pki: Pki, mode: TlsMode, client_auth: ClientAuth = ClientAuth.NONE) -> TlsDoor:
    trust = None if client_auth is ClientAuth.NONE else pki.trust
    files = TlsFiles(pki.cert, pki.key, trust_cert_path=trust, client_auth=client_auth)
    return TlsDoor(mode, open_server_tls(mode, files))


async def connect(it: Serving, pki: Pki, **more: Any) -> Any:
    return await it.connect(ssl=pki.client_context(**more), server_hostname="localhost")


@pytest.mark.parametrize(
    ("mode", "plain", "encrypted"),
    [
        (TlsMode.DISABLED, True, False),
        (TlsMode.PERMISSIVE, True, True),
        (TlsMode.ENFORCING, False, True),
    ],
)
def test_modes(pki: Pki, mode: TlsMode, plain: bool, encrypted: bool) -> None:
    async def main() -> None:
        async with serving(door=door(pki, mode)) as it:
            client = await it.connect()
            client.send(request(106))
            assert (await client.read() is not None) == plain
            try:
                client = await connect(it, pki)
            except GONE:
                assert not encrypted
            else:
                assert encrypted
                assert (await client.register()).code == 0
                for opaque in (3, 4):
                    assert (await client.ask(105, {"topic": "T"}, opaque=opaque)).code == 0

    run(main)


def test_large_and_many_frames_over_tls(pki: Pki) -> None:
    async def main() -> None:
        async with serving(door=door(pki, TlsMode.ENFORCING)) as it:
            client = await connect(it, pki)
            assert (await client.register(topics=MANY)).code == 0
            for opaque in range(50):
                client.send(request(206, opaque=opaque))
            answers = [await client.read() for _ in range(50)]
            assert [a.opaque for a in answers if a] == list(range(50))
            assert len(answers[0].json()["topicList"]) == len(MANY)

    run(main)


def test_a_broker_over_tls_goes_with_its_connection(pki: Pki) -> None:
    async def main() -> None:
        async with serving(door=door(pki, TlsMode.PERMISSIVE)) as it:
            for goodbye in (True, False):
                client = await connect(it, pki)
                await client.register()
                assert it.tables.groups
                if goodbye:
                    client.writer.close()
                else:
                    client.close()
                await until(lambda: not it.tables.groups)

    run(main)


def test_certificate_names_may_administrate(pki: Pki) -> None:
    async def main() -> None:
        async with serving(door=door(pki, TlsMode.PERMISSIVE, ClientAuth.OPTIONAL)) as it:
            it.world.state.access = type(it.world.state.access)(names=frozenset({"broker-a"}))
            put = {"namespace": "n", "key": "k", "value": "v"}
            nobody = await connect(it, pki)
            assert (await nobody.ask(100, put)).code == 16
            plain = await it.connect()
            assert (await plain.ask(100, put)).code == 16
            admin = await connect(it, pki, who=pki.client)
            assert (await admin.ask(100, put)).code == 0

    run(main)


def test_bad_handshakes_leave_nothing_behind(pki: Pki) -> None:
    async def main() -> None:
        async with serving(door=door(pki, TlsMode.ENFORCING, ClientAuth.REQUIRE)) as it:
            for noise in (b"\x16", b"\x16\x03\x01\x00\x05hello", b"\x16" + bytes(300)):
                client = await it.connect()
                client.send(noise)
                await until(lambda: it.server.connections)
                client.close()
                await until(lambda: not it.server.connections)
            anonymous = await connect(it, pki)
            anonymous.send(request(106))
            assert await anonymous.read() is None
            good = await connect(it, pki, who=pki.client)
            assert (await good.ask(106)).code == 0

    run(main)


def test_stopping_says_goodbye(pki: Pki) -> None:
    async def main() -> None:
        it = Serving(None, door(pki, TlsMode.ENFORCING))
        it.port = await it.server.start("127.0.0.1", 0)
        client = await connect(it, pki)
        await client.ask(106)
        async with asyncio.timeout(10):
            await it.server.stop(5.0)
        assert await client.reader.read() == b""  # an orderly end, not a reset
        await it.disconnect()

    run(main)
