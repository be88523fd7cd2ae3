"""How a connection may start: plain, or as a TLS session that somebody else provides."""

from typing import Protocol


class SessionError(Exception):
    """The session cannot go on; the message is for the log."""


class Session(Protocol):
    """An encrypted conversation, without I/O."""

    @property
    def eof(self) -> bool:
        """Whether the peer has said goodbye."""

    @property
    def peer_names(self) -> tuple[str, ...]:
        """The names in the peer's verified certificate."""

    def feed(self, data: bytes) -> bytes:
        """Bytes from the socket to plaintext; SessionError when they make no sense."""

    def encrypt(self, data: bytes) -> bytes:
        """Plaintext to bytes for the socket."""

    def outgoing(self) -> bytes:
        """What the session itself has to say."""

    def close(self) -> bytes:
        """The last bytes for the socket."""


class Door(Protocol):
    """Decides by the first byte that a peer sends."""

    def admit(self, first_byte: int) -> Session | None:
        """A session, None for plain traffic, or SessionError for neither."""


class OpenDoor:
    """Everything is plain."""

    def admit(self, first_byte: int) -> Session | None:
        """Let it in."""
        return None
