"""What the handlers work on, and the ports through which they reach the rest of the process."""

from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Protocol

from signpost_namesrv.routes.model import MinIdChange, Policy
from signpost_namesrv.routes.tables import Tables

from .convert import RouteBodies
from .stats import Stats
from .warmup import Warmup

ORDER_NAMESPACE = "ORDER_TOPIC_CONFIG"


class PortError(Exception):
    """Something outside refused; the message is for the peer."""


class ConfigRefusedError(PortError):
    """A configuration change that is not allowed, or not valid."""


class KvPort(Protocol):
    """The KV configuration. Writes are durable when they return; PortError when they failed."""

    def get(self, namespace: str, key: str) -> str | None:
        """One value."""

    def namespace(self, namespace: str) -> Mapping[str, str] | None:
        """All of one namespace."""

    def put(self, namespace: str, key: str, value: str | None) -> Awaitable[None]:
        """Set a value; None makes the namespace only."""

    def delete(self, namespace: str, key: str) -> Awaitable[None]:
        """Remove a value, if there is one."""


class ConfigPort(Protocol):
    """The running configuration."""

    def text(self) -> str:
        """All stock settings as properties."""

    def update(self, text: str) -> None:
        """Change settings; ConfigRefusedError when that is not allowed."""


@dataclass(frozen=True, slots=True)
class Access:
    """Who may administrate: everyone, or certain addresses and certificate names."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    names: frozenset[str] = frozenset()

    def allows(self, peer: "Peer") -> bool:
        """Whether this peer may."""
        if not self.networks and not self.names:
            return True
        if self.names.intersection(peer.names):
            return True
        try:
            address = ip_address(peer.address)
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None)
        return any((mapped or address) in network for network in self.networks)


@dataclass(frozen=True, slots=True)
class Peer:
    """Who sent a request: its connection, IP address and verified certificate names."""

    connection: Hashable
    address: str
    names: tuple[str, ...] = ()


@dataclass(slots=True)
class RoutePolicy:
    """Switches of the read side that may change while the server runs."""

    order_message: bool = False
    return_order_config: bool = True
    all_topic_list: bool = True
    topic_list: bool = True


@dataclass(slots=True)
class State:
    """One name server."""

    tables: Tables
    kv: KvPort
    config: ConfigPort
    now_ms: Callable[[], int]
    notify: Callable[[MinIdChange], None]
    warmup: Warmup
    policy: Policy = field(default_factory=Policy)
    reads: RoutePolicy = field(default_factory=RoutePolicy)
    access: Access = field(default_factory=Access)
    stats: Stats = field(default_factory=Stats)
    bodies: RouteBodies = field(default_factory=RouteBodies)
    draining: bool = False
    """About to stop: still answering, but nobody new should come."""

    def not_ready(self) -> str | None:
        """Why clients should go elsewhere for now; None when they need not."""
        if self.draining:
            return "draining: the server is about to stop"
        now = self.now_ms()
        if self.warmup.done(self.tables, now):
            return None
        missing = self.warmup.missing(self.tables)
        waiting = f"; not heard yet: {', '.join(missing[:20])}" if missing else ""
        return f"warming up for at most {self.warmup.remaining_ms(now) / 1000:.1f} s{waiting}"
