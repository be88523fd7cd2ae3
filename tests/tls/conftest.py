"""Certificates made for each test run, and a TLS client in memory."""

from __future__ import annotations

import contextlib
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

from signpost_namesrv.tls import TlsSession

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Issued:
    """A certificate with its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(Encoding.PEM)

    def key_pem(self, password: str = "", form: PrivateFormat = PrivateFormat.PKCS8) -> bytes:
        encryption: KeySerializationEncryption = NoEncryption()
        if password:
            encryption = BestAvailableEncryption(password.encode())
        return self.key.private_bytes(Encoding.PEM, form, encryption)


class Authority:
    """Signs certificates."""

    def __init__(self, name: str) -> None:
        self._issued = _issue(name, None, ca=True)
        self.pem = self._issued.pem

    def issue(
        self,
        name: str,
        sans: list[x509.GeneralName] | None = None,
        not_before: timedelta = -DAY,
        not_after: timedelta = DAY,
    ) -> Issued:
        return _issue(name, self._issued, sans, not_before, not_after)


def _issue(
    name: str,
    issuer: Issued | None,
    sans: list[x509.GeneralName] | None = None,
    not_before: timedelta = -DAY,
    not_after: timedelta = DAY,
    ca: bool = False,
) -> Issued:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Signpost tests"),
            x509.NameAttribute(NameOID.COMMON_NAME, name),
        ]
    )
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + not_before)
        .not_valid_after(now + not_after)
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    )
    if sans:
        builder = builder.add_extension(x509.SubjectAlternativeName(sans), critical=False)
    return Issued(builder.sign(issuer.key if issuer else key, hashes.SHA256()), key)


@dataclass(frozen=True)
class Pki:
    """An authority, a server of its and a client of its, as files."""

    folder: Path
    authority: Authority
    server: Issued
    client: Issued

    def file(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path

    @property
    def trust(self) -> Path:
        return self.folder / "ca.pem"

    @property
    def cert(self) -> Path:
        return self.folder / "server.pem"

    @property
    def key(self) -> Path:
        return self.folder / "server.key"

    def client_context(self, who: Issued | None = None) -> ssl.SSLContext:
        context = ssl.create_default_context(cadata=self.authority.pem.decode())
        if who:
            pair = self.file("client-pair.pem", who.pem + who.key_pem())
            context.load_cert_chain(pair)
        return context


@pytest.fixture(scope="session")
def _issued() -> tuple[Authority, Issued, Issued]:
    authority = Authority("Test CA")
    server = authority.issue("name server", [x509.DNSName("localhost")])
    client = authority.issue(
        "broker-a",
        [
            x509.DNSName("broker-a.mq.svc"),
            x509.UniformResourceIdentifier("spiffe://cluster.local/ns/mq/sa/broker"),
            x509.DNSName("broker-a"),
        ],
    )
    return authority, server, client


@pytest.fixture
def pki(tmp_path: Path, _issued: tuple[Authority, Issued, Issued]) -> Pki:
    pki = Pki(tmp_path, *_issued)
    pki.file("ca.pem", pki.authority.pem)
    pki.file("server.pem", pki.server.pem)
    pki.file("server.key", pki.server.key_pem())
    return pki


class Client:
    """A TLS client in memory."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.ssl = context.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost")

    def handshake_step(self) -> bytes:
        """Go as far as possible; gives what is to be sent."""
        with contextlib.suppress(ssl.SSLWantReadError):
            self.ssl.do_handshake()
        return self.outgoing.read()

    def shake_hands(self, session: TlsSession) -> None:
        """Exchange flights until neither side has more to say."""
        while flight := self.handshake_step():
            assert session.feed(flight) == b""
            self.incoming.write(session.outgoing())
        assert session.handshake_done

    def encrypt(self, data: bytes) -> bytes:
        rest = memoryview(data)
        while rest:
            rest = rest[self.ssl.write(rest) :]
        return self.outgoing.read()

    def decrypt(self, data: bytes) -> bytes:
        self.incoming.write(data)
        pieces = []
        with contextlib.suppress(ssl.SSLWantReadError):
            while piece := self.ssl.read(1 << 20):
                pieces.append(piece)
        return b"".join(pieces)
