"""One TLS connection, server side, without I/O: bytes in, bytes out."""

from __future__ import annotations

import contextlib
import ssl

from .errors import TlsError

# The largest honest first flight is a client's certificate chain of a few tens of kilobytes.
HANDSHAKE_LIMIT = 128 << 10
_RECORD = 16 << 10


class TlsSession:
    """Keeps the context it was made with, so a reload does not touch it.

    After each call that may answer the peer (`feed`, also when it raised), send `outgoing()`.
    """

    __slots__ = ("_fed", "_in", "_out", "_over", "_ssl", "eof", "handshake_done", "peer_names")

    def __init__(self, context: ssl.SSLContext) -> None:
        self._in = ssl.MemoryBIO()
        self._out = ssl.MemoryBIO()
        self._ssl = context.wrap_bio(self._in, self._out, server_side=True)
        self._fed = 0
        self._over = ""
        self.handshake_done = False
        self.eof = False
        """The peer said that it will send no more; it may still read."""
        self.peer_names: tuple[str, ...] = ()
        """Common name and DNS and URI names of a verified client certificate."""

    def feed(self, data: bytes) -> bytes:
        """Take bytes off the socket; gives the plaintext they completed, never more than came."""
        if self._over:
            raise TlsError(self._over)
        if self.eof:
            return b""  # what follows a close_notify is not part of the conversation
        try:
            self._in.write(data)
            if not self.handshake_done and not self._shake_hands(len(data)):
                return b""
            return self._read()
        except ssl.SSLError as e:
            raise self._fail(_reason(e)) from e

    def feed_eof(self) -> None:
        """The socket will give no more bytes. Frames carry their length: no truncation to fear."""
        if not self.handshake_done and not self._over:
            raise self._fail("the peer hung up during the handshake")
        self.eof = True

    def encrypt(self, data: bytes) -> bytes:
        """Give the bytes for the socket; what was outgoing before comes first."""
        if not self.handshake_done or self._over:
            raise TlsError(self._over or "the handshake is not done")
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[self._ssl.write(rest) :]
        except ssl.SSLError as e:
            raise self._fail(_reason(e)) from e
        return self._out.read()

    def outgoing(self) -> bytes:
        """Bytes to put on the socket now: handshake, alerts."""
        return self._out.read()

    def close(self) -> bytes:
        """Say goodbye (close_notify); gives the last bytes for the socket."""
        if self.handshake_done and not self._over:
            self._over = "the session is closed"
            with contextlib.suppress(ssl.SSLError):  # the peer's own goodbye is not waited for
                self._ssl.unwrap()
        return self._out.read()

    def _fail(self, reason: str) -> TlsError:
        self._over = reason
        return TlsError(reason)

    def _shake_hands(self, size: int) -> bool:
        self._fed += size
        try:
            self._ssl.do_handshake()
        except ssl.SSLWantReadError:
            if self._fed > HANDSHAKE_LIMIT:
                raise self._fail(f"no handshake within {HANDSHAKE_LIMIT} bytes") from None
            return False
        self.handshake_done = True
        self.peer_names = _names(self._ssl.getpeercert())
        return True

    def _read(self) -> bytes:
        pieces: list[bytes] = []
        with contextlib.suppress(ssl.SSLWantReadError):
            # Asking only while there is input spares an exception per call.
            while self._in.pending or self._ssl.pending():
                piece = self._ssl.read(_RECORD)
                if not piece:  # close_notify
                    self.eof = True
                    break
                pieces.append(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _names(certificate: object) -> tuple[str, ...]:
    if not isinstance(certificate, dict):
        return ()
    names = [
        value
        for part in certificate.get("subject", ())
        for kind, value in part
        if kind == "commonName"
    ]
    names += [
        value for kind, value in certificate.get("subjectAltName", ()) if kind in {"DNS", "URI"}
    ]
    return tuple(dict.fromkeys(names))


def _reason(e: ssl.SSLError) -> str:
    if isinstance(e, ssl.SSLCertVerificationError):
        return f"client certificate: {e.verify_message}"
    return (e.reason or e.strerror or str(e)).lower().replace("_", " ")
