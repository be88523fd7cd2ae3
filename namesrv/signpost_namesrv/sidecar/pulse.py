"""When a declared broker is announced, and when it is taken back. Pure."""

from enum import Enum


class Act(Enum):
    """What to do after a look at the broker."""

    NOTHING = "nothing"
    BEAT = "beat"
    LEAVE = "leave"


class Pulse:
    """A broker that is not well gets no beat; one that stays unwell is unregistered."""

    def __init__(self, beat_seconds: float, failures_allowed: int = 1) -> None:
        self.registered = False
        self.healthy = False
        self.failures = 0
        self._beat_seconds = beat_seconds
        self._failures_allowed = failures_allowed
        self._next_beat = 0.0

    def looked(self, healthy: bool, now: float) -> Act:
        """Decide by what the health check found."""
        self.healthy = healthy
        if not healthy:
            self.failures += 1
            if self.registered and self.failures > self._failures_allowed:
                self.registered = False
                return Act.LEAVE
            return Act.NOTHING
        self.failures = 0
        if self.registered and now < self._next_beat:
            return Act.NOTHING
        self.registered = True
        self._next_beat = now + self._beat_seconds
        return Act.BEAT

    def changed(self) -> None:
        """What the broker says of itself is new: the next good look makes it known."""
        self._next_beat = float("-inf")
