"""What one peer, and all of them together, may take."""

from dataclasses import dataclass

KIB = 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes, times in seconds."""

    max_connections: int = 20_000
    max_frame: int = 16 * KIB * KIB
    max_header: int = 64 * KIB
    max_buffered: int = 512 * KIB * KIB
    """Of unfinished frames over all connections; small ones do not count."""
    max_in_flight: int = 64
    """Requests of one connection that wait for their turn at the tables or for the disk."""
    write_high: int = 256 * KIB
    write_low: int = 64 * KIB
    write_stall: float = 30.0
    idle: float = 120.0
    """0: never."""
    peer_timeout: int = 30
