"""Real sockets: plain and TLS on one port, with Python's own TLS client."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from cryptography import x509

from signpost_namesrv.tls import (
    ClientAuth,
    ReloadingTls,
    TlsError,
    TlsFiles,
    TlsMode,
    TlsSession,
    Verdict,
    judge,
    open_server_tls,
)

from .conftest import Issued, Pki


class Echo(asyncio.Protocol):
    """Sends back what it reads, each connection as its first byte asks for."""

    def __init__(self, mode: TlsMode, tls: ReloadingTls | None, log: list[str]) -> None:
        self._mode, self._tls, self._log = mode, tls, log
        self._session: TlsSession | None = None
        self._started = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if not self._started:
            self._started = True
            verdict = judge(self._mode, data[0], self._tls is not None)
            if verdict.refused:
                self._log.append(verdict.value)
                self._transport.close()
                return
            if verdict is Verdict.TLS and self._tls:
                self._session = TlsSession(self._tls.context)
        if not self._session:
            self._transport.write(data)
            return
        try:
            plain = self._session.feed(data)
        except TlsError as e:
            self._log.append(str(e))
            self._transport.write(self._session.outgoing())
            self._transport.close()
            return
        self._transport.write(self._session.encrypt(plain) if plain else self._session.outgoing())
        if self._session.eof:
            self._transport.write(self._session.close())
            self._transport.close()


@asynccontextmanager
async def serving(
    mode: TlsMode, files: TlsFiles | None, log: list[str]
) -> AsyncIterator[tuple[int, ReloadingTls | None]]:
    tls = open_server_tls(mode, files)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Echo(mode, tls, log), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], tls


async def echo(port: int, context: ssl.SSLContext | None, data: bytes = b"\0\0\0\x04ping") -> bytes:
    name = "localhost" if context else None
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", port, ssl=context, server_hostname=name
    )
    try:
        writer.write(data)
        async with asyncio.timeout(30):
            return await reader.readexactly(len(data))
    finally:
        writer.close()


async def test_plain_and_tls_on_one_port(pki: Pki) -> None:
    async with serving(TlsMode.PERMISSIVE, TlsFiles(pki.cert, pki.key), []) as (port, _):
        context = pki.client_context()
        big = bytes(1 << 20)
        answers = await asyncio.gather(
            echo(port, None), echo(port, context), echo(port, context, big), echo(port, None, big)
        )
        assert [len(answer) for answer in answers] == [8, 8, len(big), len(big)]


async def test_without_a_certificate_a_hello_is_refused_with_a_reason(pki: Pki) -> None:
    log: list[str] = []
    async with serving(TlsMode.PERMISSIVE, None, log) as (port, _):
        assert await echo(port, None) == b"\0\0\0\x04ping"
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await echo(port, pki.client_context())
    assert log == ["a TLS handshake, but no certificate is configured"]


async def test_enforcing_refuses_plain(pki: Pki) -> None:
    log: list[str] = []
    async with serving(TlsMode.ENFORCING, TlsFiles(pki.cert, pki.key), log) as (port, _):
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await echo(port, None)
        await echo(port, pki.client_context())
    assert log == ["a plain frame, but tls.server.mode is enforcing"]


@pytest.mark.parametrize("shown", [True, False])
async def test_client_certificates_over_a_socket(pki: Pki, shown: bool) -> None:
    log: list[str] = []
    who: Issued | None = pki.client if shown else None
    files = TlsFiles(pki.cert, pki.key, "", pki.trust, ClientAuth.REQUIRE)
    async with serving(TlsMode.ENFORCING, files, log) as (port, _):
        if shown:
            await echo(port, pki.client_context(who))
            assert log == []
            return
        with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
            await echo(port, pki.client_context(who))
        assert log == ["peer did not return a certificate"]


async def test_a_reload_drops_nobody(pki: Pki) -> None:
    async with serving(TlsMode.ENFORCING, TlsFiles(pki.cert, pki.key), []) as (port, tls):
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", port, ssl=pki.client_context(), server_hostname="localhost"
        )
        new = pki.authority.issue("name server", [x509.DNSName("localhost")])
        pki.cert.write_bytes(new.pem)
        pki.key.write_bytes(new.key_pem())
        assert tls
        assert await asyncio.to_thread(tls.poll)
        await echo(port, pki.client_context())
        writer.write(b"still here")
        async with asyncio.timeout(30):
            assert await reader.readexactly(10) == b"still here"
        writer.close()
        await writer.wait_closed()
