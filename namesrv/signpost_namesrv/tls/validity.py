"""From when until when a certificate is valid, read from its PEM text.

The ssl module tells this only of certificates that it has verified. A certificate's dates
stand at a fixed place of its DER encoding, so a walk over a few headers finds them.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime

_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
_SEQUENCE, _VERSION, _UTC_TIME = 0x30, 0xA0, 0x17


@dataclass(frozen=True, slots=True)
class Validity:
    """Seconds since the epoch."""

    not_before: float
    not_after: float

    def covers(self, now: float) -> bool:
        """Is the certificate valid at that time?"""
        return self.not_before <= now <= self.not_after


def validity_of(pem: str) -> Validity:
    """Dates of the first certificate, which is the server's own. ValueError when unreadable."""
    start = pem.index(_BEGIN)
    der = ssl.PEM_cert_to_DER_cert(pem[start : pem.index(_END, start) + len(_END)] + "\n")
    _, certificate, _ = _element(der)
    _, fields, _ = _element(certificate)
    tag, _, rest = _element(fields)
    if tag != _VERSION:  # left out in version 1
        rest = fields
    for _ in ("serial number", "signature algorithm", "issuer"):
        _, _, rest = _element(rest)
    tag, dates, _ = _element(rest)
    if tag != _SEQUENCE:
        raise ValueError("no validity where it should stand")
    begin_tag, begin, rest = _element(dates)
    end_tag, end, _ = _element(rest)
    return Validity(_time(begin_tag, begin), _time(end_tag, end))


def _element(der: bytes) -> tuple[int, bytes, bytes]:
    """Split into the first element's tag and contents, and what follows it."""
    if len(der) < 2:
        raise ValueError("the certificate is cut short")
    start, length = 2, der[1]
    if length & 0x80:
        start += length & 0x7F
        length = int.from_bytes(der[2:start], "big")
    if len(der) < start + length:
        raise ValueError("the certificate is cut short")
    return der[0], der[start : start + length], der[start + length :]


def _time(tag: int, contents: bytes) -> float:
    text = contents.decode("ascii")
    if tag == _UTC_TIME:  # two digits of the year, 50 to 99 being the last century
        text = ("19" if text[:2] >= "50" else "20") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC).timestamp()
