"""A stock broker that speaks TLS with a name server that insists on it."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from contextlib import closing
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.conformance.jvm import Java
from tests.conformance.peer import Peer, Request
from tests.conformance.processes import Broker, our_name_server


def _certificate(folder: Path) -> tuple[Path, Path]:
    """A key and a certificate of its own making for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    key_file, certificate_file = folder / "key.pem", folder / "certificate.pem"
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return key_file, certificate_file


def test_broker_registers_packed_over_tls(java: Java, tmp_path: Path) -> None:
    key, certificate = _certificate(tmp_path)
    settings = {
        "tls.server.mode": "enforcing",
        "tls.server.keyPath": str(key),
        "tls.server.certPath": str(certificate),
    }
    flags = {
        "tls.enable": "true",
        "tls.client.authServer": "true",
        "tls.client.trustCertPath": str(certificate),
        # Otherwise it trusts anybody and makes up a certificate for its own port.
        "tls.test.mode.enable": "false",
        "tls.server.mode": "disabled",
    }
    context = ssl.create_default_context(cafile=str(certificate))

    def knows(address: str) -> bool:
        with closing(Peer(server.port, tls=context)) as peer:
            answer = peer.call(Request(106, {}))
        assert answer is not None
        return f'"{address}"' in answer.body.decode()

    # Its registrations are packed as well, which no Java name server of its version can read.
    packing = {"compressedRegister": "true"}
    with our_name_server(tmp_path / "namesrv", settings) as server:
        folder = tmp_path / "broker"
        with Broker(java, folder, server.address, "encrypted", 0, packing, **flags) as broker:
            broker.joined(knows)
        with closing(Peer(server.port)) as plain:
            assert plain.call(Request(106, {})) is None, "a plain connection is refused"
