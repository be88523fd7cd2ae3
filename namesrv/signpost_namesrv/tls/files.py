"""Which files TLS is made of, and what the stock server's settings mean for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from .errors import TlsConfigError


class ClientAuth(Enum):
    """Whether clients show a certificate; one that is shown is always verified.

    The stock server can be told not to verify (tls.server.authClient=false, its default) and
    then believes any name. A name that is not verified is of no use, so that is not offered.
    """

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRE = "require"


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """The server's side, all PEM. The key may be PKCS#8 (as Java wants it) or traditional."""

    cert_path: Path
    key_path: Path
    key_password: str = field(default="", repr=False)
    trust_cert_path: Path | None = None
    client_auth: ClientAuth = ClientAuth.NONE

    def __post_init__(self) -> None:
        if self.client_auth is not ClientAuth.NONE and not self.trust_cert_path:
            raise TlsConfigError(
                f"client authentication is {self.client_auth.value}, but no trust bundle says "
                "whose certificates count: set tls.server.trustCertPath"
            )

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every file that matters."""
        return tuple(p for p in (self.cert_path, self.key_path, self.trust_cert_path) if p)


@dataclass(frozen=True, slots=True)
class TlsClientFiles:
    """The client's side. Without a trust bundle, the system's authorities count."""

    trust_cert_path: Path | None = None
    cert_path: Path | None = None
    key_path: Path | None = None
    key_password: str = field(default="", repr=False)
    verify_server: bool = True
    """Off: any server is believed, as stock clients do by default (tls.client.authServer)."""
    check_hostname: bool = True
    """Off: any name in a trusted certificate will do; for servers found by address."""

    def __post_init__(self) -> None:
        if bool(self.cert_path) != bool(self.key_path):
            raise TlsConfigError("a client certificate needs its key, and a key its certificate")

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every file that matters."""
        return tuple(p for p in (self.cert_path, self.key_path, self.trust_cert_path) if p)


def server_files(
    *,
    cert_path: Path | None,
    key_path: Path | None,
    key_password: str = "",
    trust_cert_path: Path | None = None,
    client_auth: ClientAuth = ClientAuth.NONE,
) -> TlsFiles | None:
    """Turn the stock settings into files; None when no certificate is configured.

    The stock server then makes a self-signed certificate (tls.test.mode.enable, on by default).
    Not here: nobody can verify it, so it would only look like protection.
    """
    if not cert_path and not key_path:
        return None
    if not cert_path or not key_path:
        missing = "tls.server.keyPath" if cert_path else "tls.server.certPath"
        raise TlsConfigError(f"certificate and key come in pairs: set {missing} too")
    return TlsFiles(cert_path, key_path, key_password, trust_cert_path, client_auth)
