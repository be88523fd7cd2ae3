"""What the HTTP side may use and take. Sizes in bytes, times in seconds."""

from dataclasses import dataclass, field
from pathlib import Path

KIB = 1024


@dataclass(frozen=True, slots=True)
class PeerOptions:
    """The other name servers of the cluster, and when they count as disagreeing."""

    urls: tuple[str, ...] = ()
    service: str = ""
    """A DNS name whose addresses are all name servers, with or without `:port`."""
    default_port: int = 8080
    poll: float = 5.0
    timeout: float = 2.0
    disagree_after: float = 35.0


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of the HTTP side, with limits that need no setting."""

    token_file: Path | None = None
    reads_need_token: bool = False
    advertise_address: str = ""
    remoting_port: int = 9876
    peers: PeerOptions = field(default_factory=PeerOptions)

    max_connections: int = 1024
    max_watchers: int = 256
    """Watchers and long polls, together."""
    max_snapshots: int = 8
    """Each holds the tables of its moment until its reader has them."""
    max_diffs: int = 2
    """Comparisons with peers at a time."""
    max_body: int = KIB * KIB
    max_header: int = 8190
    """A request line, and each header field."""

    request_timeout: float = 15.0
    """To send a request, from the first byte (or the end of the last one) to its end."""
    write_stall: float = 30.0
    """A client that reads nothing for so long is dropped."""
    beat: float = 10.0
    """Between signs of life to a watcher."""
    token_poll: float = 5.0
    stop_timeout: float = 1.0
