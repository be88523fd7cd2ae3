"""The parts of a sidecar, joined."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from signpost_namesrv.wire.command import Command

from .backoff import Backoff
from .carrier import Carrier
from .endpoint import Endpoint
from .fleet import Fleet
from .link import Dialling, Link
from .listener import Bounds, Listener
from .telling import Teller


@dataclass(frozen=True, slots=True)
class Options:
    """How a sidecar behaves. Times in seconds."""

    host: str = "127.0.0.1"
    port: int = 9876
    bounds: Bounds = field(default_factory=Bounds)
    dialling: Dialling = field(default_factory=Dialling)
    answer_wait: float = 1.0
    register_timeout: float = 12.0
    reconnect_first: float = 0.05
    reconnect_longest: float = 0.8


class Sidecar:
    """Make it inside its event loop."""

    def __init__(
        self,
        options: Options,
        now: Callable[[], float] = time.monotonic,
        rand: Callable[[], float] = random.random,
    ) -> None:
        self.options = options
        self._now = now
        self._random = rand
        self.fleet = Fleet(self._make_link, options.answer_wait)
        self.teller = Teller(now, options.register_timeout)
        self.carrier = Carrier(self.fleet, self.teller, now)
        self.listener = Listener(self.carrier, options.bounds)

    async def start(self) -> int:
        """Listen; the port."""
        return await self.listener.start(self.options.host, self.options.port)

    async def stop(self) -> None:
        """Hang up everywhere."""
        await self.listener.stop()
        await self.fleet.close()

    def _make_link(self, address: str) -> Link:
        options = self.options
        backoff = Backoff(options.reconnect_first, options.reconnect_longest, self._random)
        endpoint = Endpoint(address, backoff)
        return Link(endpoint, options.dialling, self.carrier.catch_up, self._told, self._now)

    def _told(self, command: Command) -> None:
        """A name server asks something of the broker."""
