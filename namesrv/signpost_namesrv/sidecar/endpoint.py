"""What is known of one name server: is it there, and what has it been told. Pure."""

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from .backoff import Backoff
from .record import BrokerId, Record


class EndpointState(Enum):
    """Where a name server stands."""

    DOWN = "down"
    UP = "up"


class Need(Enum):
    """What a name server must be sent for a broker."""

    BEAT = "beat"
    INCREMENT = "increment"
    FULL = "full"


class _Told(NamedTuple):
    generation: int
    full_again_at: float


class Endpoint:
    """A name server forgets a broker with its connection: what it was told counts for one only.

    Now and then it is told in full although nothing changed: a version query does not show a
    topic that an administrator deleted there and the broker still has.
    """

    def __init__(
        self, address: str, backoff: Backoff, full_again_after: Callable[[], float] = lambda: 600.0
    ) -> None:
        self.address = address
        self.state = EndpointState.DOWN
        self.since: float | None = None
        self.last_error = ""
        self.last_beat: float | None = None
        self.connects = 0
        self.failures = 0
        self.catch_ups = 0
        self._backoff = backoff
        self._full_again_after = full_again_after
        self._has: dict[BrokerId, _Told] = {}

    @property
    def up(self) -> bool:
        """Whether there is a connection."""
        return self.state is EndpointState.UP

    def connected(self, now: float) -> None:
        """A connection stands: the server behind it knows nothing."""
        self.state = EndpointState.UP
        self.since = now
        self.connects += 1
        self._has.clear()

    def failed(self, error: str, now: float) -> float:
        """No connection came about, or it ended; the pause before the next try."""
        if self.up:
            self.since = now
        self.state = EndpointState.DOWN
        self.last_error = error
        self.failures += 1
        self._has.clear()
        return self._backoff.next()

    def need(self, record: Record, now: float) -> Need:
        """What would bring this server up to date."""
        told = self._has.get(record.broker)
        if told is None or now >= told.full_again_at:
            return Need.FULL
        if told.generation == record.generation:
            return Need.BEAT
        return Need.FULL if record.increment_after(told.generation) is None else Need.INCREMENT

    def knows(self, broker: BrokerId) -> bool:
        """Whether the broker is registered there, be it with an older table."""
        return broker in self._has

    def accepted(self, broker: BrokerId, generation: int, now: float, *, full: bool) -> None:
        """It has this generation. A server that takes registrations has earned a quick retry."""
        told = self._has.get(broker)
        again_at = now + self._full_again_after() if full or told is None else told.full_again_at
        self._has[broker] = _Told(generation, again_at)
        self.heard(now)
        self._backoff.reset()

    def heard(self, now: float) -> None:
        """It took a beat."""
        self.last_beat = now
        self.last_error = ""

    def refused(self, broker: BrokerId, error: str) -> None:
        """It does not want the broker, or lost it."""
        self._has.pop(broker, None)
        self.last_error = error

    def forget(self, broker: BrokerId) -> None:
        """The broker has left."""
        self._has.pop(broker, None)
