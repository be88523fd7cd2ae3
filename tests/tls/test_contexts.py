"""Contexts from files: what is accepted, and what each error says."""

import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PrivateFormat

from signpost_namesrv.tls import (
    ClientAuth,
    TlsClientFiles,
    TlsConfigError,
    TlsFiles,
    TlsSession,
    load_client_context,
    load_context,
    server_files,
)
from signpost_namesrv.tls.validity import Validity, validity_of

from .conftest import DAY, Authority, Client, Pki


def works(pki: Pki, files: TlsFiles) -> bool:
    session, client = TlsSession(load_context(files).context), Client(pki.client_context())
    client.shake_hands(session)
    return session.handshake_done


@pytest.mark.parametrize("password", ["", "open sesame"])
@pytest.mark.parametrize("form", [PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL])
def test_keys_of_every_form(pki: Pki, password: str, form: PrivateFormat) -> None:
    key = pki.file("k", pki.server.key_pem(password, form))
    assert works(pki, TlsFiles(pki.cert, key, password))


def test_a_password_for_a_key_that_has_none_is_fine(pki: Pki) -> None:
    assert works(pki, TlsFiles(pki.cert, pki.key, "unused"))


def test_a_chain_with_an_intermediate_and_text_around_it(pki: Pki) -> None:
    pki.file("server.pem", b"Subject: whatever\n" + pki.server.pem + pki.authority.pem)
    assert works(pki, TlsFiles(pki.cert, pki.key))


def test_new_connections_are_tls_1_2_or_better_and_never_renegotiate(pki: Pki) -> None:
    for context in (
        load_context(TlsFiles(pki.cert, pki.key)).context,
        load_client_context(TlsClientFiles(pki.trust)).context,
    ):
        assert context.minimum_version is ssl.TLSVersion.TLSv1_2
        assert context.options & ssl.OP_NO_RENEGOTIATION


def _missing(pki: Pki) -> TlsFiles:
    return TlsFiles(pki.folder / "none.pem", pki.key)


def _missing_key(pki: Pki) -> TlsFiles:
    return TlsFiles(pki.cert, pki.folder / "none.key")


def _missing_trust(pki: Pki) -> TlsFiles:
    return TlsFiles(pki.cert, pki.key, "", pki.folder / "none.pem", ClientAuth.REQUIRE)


def _swapped(pki: Pki) -> TlsFiles:
    return TlsFiles(pki.key, pki.cert)


def _der(pki: Pki) -> TlsFiles:
    return TlsFiles(pki.file("c", pki.server.certificate.public_bytes(Encoding.DER)), pki.key)


def _key_is_no_key(pki: Pki) -> TlsFiles:
    return TlsFiles(pki.cert, pki.cert)


def _mismatch(pki: Pki) -> TlsFiles:
    return TlsFiles(pki.cert, pki.file("k", pki.client.key_pem()))


def _no_password(pki: Pki) -> TlsFiles:
    return TlsFiles(pki.cert, pki.file("k", pki.server.key_pem("secret")))


def _wrong_password(pki: Pki) -> TlsFiles:
    return TlsFiles(pki.cert, pki.file("k", pki.server.key_pem("secret")), "guess")


def _half_a_certificate(pki: Pki) -> TlsFiles:
    return TlsFiles(pki.file("c", pki.server.pem[:300]), pki.key)


def _half_a_key(pki: Pki) -> TlsFiles:
    return TlsFiles(pki.cert, pki.file("k", pki.server.key_pem()[:100]))


def _empty_trust(pki: Pki) -> TlsFiles:
    return TlsFiles(pki.cert, pki.key, "", pki.file("t", b""), ClientAuth.OPTIONAL)


def _broken_trust(pki: Pki) -> TlsFiles:
    trust = pki.file("t", pki.authority.pem.replace(b"MII", b"!!!"))
    return TlsFiles(pki.cert, pki.key, "", trust, ClientAuth.OPTIONAL)


@pytest.mark.parametrize(
    ("files", "parts"),
    [
        (_missing, ["certificate", "none.pem", "No such file"]),
        (_missing_key, ["key", "none.key", "No such file"]),
        (_missing_trust, ["trust bundle", "none.pem", "No such file"]),
        (_swapped, ["server.key holds no PEM certificate"]),
        (_der, ["holds no PEM certificate", "openssl pkcs12"]),
        (_key_is_no_key, ["server.pem holds no PEM private key", "openssl pkcs12"]),
        (_mismatch, ["does not belong to certificate", "server.pem"]),
        (_no_password, ["is encrypted", "keyPassword"]),
        (_wrong_password, ["encrypted key", "is its keyPassword right?"]),
        (_half_a_certificate, ["cannot be loaded"]),
        (_half_a_key, ["cannot be loaded"]),
        (_empty_trust, ["trust bundle", "holds no PEM certificate", "keytool"]),
        (_broken_trust, ["trust bundle", "cannot be loaded"]),
    ],
)
def test_errors_name_the_file_and_the_remedy(pki: Pki, files: object, parts: list[str]) -> None:
    assert callable(files)
    with pytest.raises(TlsConfigError) as e:
        load_context(files(pki))
    for part in parts:
        assert part in str(e.value)
    assert "secret" not in str(e.value)
    assert "guess" not in str(e.value)


def test_an_encrypted_key_never_asks_the_terminal(pki: Pki) -> None:
    for password in ("", "wrong"):
        files = TlsFiles(pki.cert, pki.file("k", pki.server.key_pem("secret")), password)
        with pytest.raises(TlsConfigError):
            load_context(files)


def test_passwords_are_not_shown() -> None:
    assert "secret" not in repr(TlsFiles(Path("c"), Path("k"), "secret"))
    assert "secret" not in repr(TlsClientFiles(None, Path("c"), Path("k"), "secret"))


def test_settings_become_files() -> None:
    cert, key = Path("c"), Path("k")
    assert server_files(cert_path=None, key_path=None) is None
    assert server_files(cert_path=cert, key_path=key) == TlsFiles(cert, key)
    with pytest.raises(TlsConfigError, match=r"set tls\.server\.keyPath too"):
        server_files(cert_path=cert, key_path=None)
    with pytest.raises(TlsConfigError, match=r"set tls\.server\.certPath too"):
        server_files(cert_path=None, key_path=key)
    with pytest.raises(TlsConfigError, match=r"set tls\.server\.trustCertPath"):
        server_files(cert_path=cert, key_path=key, client_auth=ClientAuth.OPTIONAL)
    with pytest.raises(TlsConfigError, match="needs its key"):
        TlsClientFiles(cert_path=cert)


def test_clients_verify_the_server_unless_told_not_to(pki: Pki) -> None:
    context = load_context(TlsFiles(pki.cert, pki.key)).context
    other = pki.file("other.pem", Authority("Other CA").pem)
    named = pki.authority.issue("name server", [x509.DNSName("elsewhere")])
    elsewhere = load_context(
        TlsFiles(pki.file("e", named.pem), pki.file("ek", named.key_pem()))
    ).context

    def shake(files: TlsClientFiles, server: ssl.SSLContext = context) -> None:
        Client(load_client_context(files).context).shake_hands(TlsSession(server))

    shake(TlsClientFiles(pki.trust))
    shake(TlsClientFiles(other, verify_server=False))
    shake(TlsClientFiles(pki.trust, check_hostname=False), elsewhere)
    for files, server in (
        (TlsClientFiles(other), context),
        (TlsClientFiles(), context),
        (TlsClientFiles(pki.trust), elsewhere),
    ):
        with pytest.raises(ssl.SSLCertVerificationError):
            shake(files, server)


def test_clients_show_their_certificate(pki: Pki) -> None:
    cert = pki.file("client.pem", pki.client.pem)
    key = pki.file("client.key", pki.client.key_pem("secret"))
    loaded = load_client_context(TlsClientFiles(pki.trust, cert, key, "secret"))
    assert loaded.validity
    files = TlsFiles(pki.cert, pki.key, "", pki.trust, ClientAuth.REQUIRE)
    session = TlsSession(load_context(files).context)
    Client(loaded.context).shake_hands(session)
    assert session.peer_names[0] == "broker-a"


# Two digits of the year until 2049, four from then on.
@pytest.mark.parametrize(("before", "after"), [(0, 0), (40, 20), (5, 40), (75, 50)])
def test_dates_are_read_from_the_certificate(pki: Pki, before: int, after: int) -> None:
    issued = pki.authority.issue(
        "x", not_before=-(1 + 365 * before) * DAY, not_after=(1 + 365 * after) * DAY
    )
    certificate = issued.certificate
    expected = Validity(
        certificate.not_valid_before_utc.timestamp(), certificate.not_valid_after_utc.timestamp()
    )
    assert validity_of(issued.pem.decode()) == expected
    assert load_context(
        TlsFiles(pki.file("c", issued.pem), pki.file("k", issued.key_pem()))
    ).validity == expected  # fmt: skip
    assert expected.covers(expected.not_before)
    assert not expected.covers(expected.not_after + 1)
    assert not expected.covers(expected.not_before - 1)


@pytest.mark.parametrize(
    "data", [b"", b"\x30", b"\x30\x82\x01", b"\x30\x00", b"\x30\x03\x30\x01\x02"]
)
def test_dates_of_a_broken_certificate(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any text will do
        validity_of(ssl.DER_cert_to_PEM_cert(data))
