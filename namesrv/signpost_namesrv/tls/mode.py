"""Plain or TLS on one port: the first byte of a connection decides."""

from __future__ import annotations

from enum import Enum

# First byte of a TLS handshake record. A plain frame that starts so would be over 350 MiB long.
HANDSHAKE = 0x16


class TlsMode(Enum):
    """The stock server's `tls.server.mode`."""

    DISABLED = "disabled"
    PERMISSIVE = "permissive"
    ENFORCING = "enforcing"


class Verdict(Enum):
    """What to do with a new connection; the value is the reason to log when it is refused."""

    PLAIN = "plain"
    TLS = "TLS"
    REFUSE_DISABLED = "a TLS handshake, but tls.server.mode is disabled"
    REFUSE_NO_CERTIFICATE = "a TLS handshake, but no certificate is configured"
    REFUSE_PLAIN = "a plain frame, but tls.server.mode is enforcing"

    @property
    def refused(self) -> bool:
        """Close the connection."""
        return self not in {Verdict.PLAIN, Verdict.TLS}


def judge(mode: TlsMode, first_byte: int, has_certificate: bool) -> Verdict:
    """Decide by the first byte that a peer sent."""
    if first_byte != HANDSHAKE:
        return Verdict.REFUSE_PLAIN if mode is TlsMode.ENFORCING else Verdict.PLAIN
    if mode is TlsMode.DISABLED:
        return Verdict.REFUSE_DISABLED
    return Verdict.TLS if has_certificate else Verdict.REFUSE_NO_CERTIFICATE
