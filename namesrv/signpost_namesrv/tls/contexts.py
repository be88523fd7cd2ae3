"""SSL contexts from files, with errors that name the file and the remedy."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

from .errors import TlsConfigError
from .files import ClientAuth, TlsClientFiles, TlsFiles
from .validity import Validity, validity_of

_VERIFY = {
    ClientAuth.NONE: ssl.CERT_NONE,
    ClientAuth.OPTIONAL: ssl.CERT_OPTIONAL,
    ClientAuth.REQUIRE: ssl.CERT_REQUIRED,
}
_CERTIFICATE = "-----BEGIN CERTIFICATE-----"


@dataclass(frozen=True, slots=True)
class LoadedContext:
    """A context and the dates of its own certificate (None: a client without one)."""

    context: ssl.SSLContext
    validity: Validity | None


def load_context(files: TlsFiles) -> LoadedContext:
    """Build the server's context. Blocks."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # Connections live for hours: tickets to resume them would be bytes for nothing.
    context.num_tickets = 0
    context.verify_mode = _VERIFY[files.client_auth]
    if files.trust_cert_path and files.client_auth is not ClientAuth.NONE:
        _load_trust(context, files.trust_cert_path)
    validity = _load_certificate(context, files.cert_path, files.key_path, files.key_password)
    return LoadedContext(_harden(context), validity)


def load_client_context(files: TlsClientFiles) -> LoadedContext:
    """Build a client's context. Blocks."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = files.verify_server and files.check_hostname
    if not files.verify_server:
        context.verify_mode = ssl.CERT_NONE
    elif files.trust_cert_path:
        _load_trust(context, files.trust_cert_path)
    else:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    validity = None
    if files.cert_path and files.key_path:
        validity = _load_certificate(context, files.cert_path, files.key_path, files.key_password)
    return LoadedContext(_harden(context), validity)


def _harden(context: ssl.SSLContext) -> ssl.SSLContext:
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
    return context


def _load_trust(context: ssl.SSLContext, path: Path) -> None:
    pem = _read(path, "trust bundle")
    if _CERTIFICATE not in pem:
        raise TlsConfigError(
            f"trust bundle {path} holds no PEM certificate; a Java key store is turned into PEM "
            "with `keytool -exportcert -rfc`"
        )
    # Each certificate in the bundle is trusted as it is, as in Java; not only roots.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(cafile=path)
    except (OSError, ssl.SSLError) as e:
        raise TlsConfigError(f"trust bundle {path} cannot be loaded: {_reason(e)}") from e


def _load_certificate(
    context: ssl.SSLContext, cert_path: Path, key_path: Path, key_password: str
) -> Validity:
    pem = _read(cert_path, "certificate")
    if _CERTIFICATE not in pem:
        raise TlsConfigError(
            f"certificate {cert_path} holds no PEM certificate; a PKCS#12 file is turned into PEM "
            "with `openssl pkcs12 -nokeys`"
        )
    key = _read(key_path, "key")
    if "PRIVATE KEY-----" not in key:
        raise TlsConfigError(
            f"key {key_path} holds no PEM private key; a PKCS#12 file is turned into PEM "
            "with `openssl pkcs12 -nocerts`"
        )
    encrypted = "ENCRYPTED" in key
    if encrypted and not key_password:
        raise TlsConfigError(f"key {key_path} is encrypted: set its keyPassword")
    try:
        # A password is always given: without one OpenSSL would ask the terminal.
        context.load_cert_chain(cert_path, key_path, password=key_password)
    except (OSError, ssl.SSLError) as e:
        raise TlsConfigError(_chain_error(cert_path, key_path, encrypted, e)) from e
    try:
        return validity_of(pem)
    except ValueError as e:
        raise TlsConfigError(f"certificate {cert_path} cannot be read: {e}") from e


def _chain_error(cert_path: Path, key_path: Path, encrypted: bool, e: OSError) -> str:
    reason = _reason(e)
    if reason == "key values mismatch":
        return (
            f"key {key_path} does not belong to certificate {cert_path}: "
            "put the pair that was issued together there"
        )
    if encrypted:
        return (
            f"certificate {cert_path} with encrypted key {key_path} cannot be loaded: {reason}; "
            "is its keyPassword right?"
        )
    return f"certificate {cert_path} with key {key_path} cannot be loaded: {reason}"


def _read(path: Path, what: str) -> str:
    try:
        return path.read_bytes().decode("ascii", "replace")
    except OSError as e:
        raise TlsConfigError(f"cannot read {what} {path}: {e.strerror}") from e


def _reason(e: OSError) -> str:
    if isinstance(e, ssl.SSLError) and e.reason:
        return e.reason.lower().replace("_", " ")
    return e.strerror or str(e)
