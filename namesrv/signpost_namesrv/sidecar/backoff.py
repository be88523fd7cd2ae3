"""How long to wait before the next try. Pure."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class Backoff:
    """Doubling pauses up to a longest one, each shortened at random by up to a half.

    The random part keeps a fleet of sidecars from knocking at a returning name server at once.
    """

    first: float
    longest: float
    random: Callable[[], float]
    """A number from 0 to 1."""
    _tries: int = 0

    def next(self) -> float:
        """The pause before the next try, in seconds."""
        pause = min(self.first * 2.0 ** min(self._tries, 30), self.longest)
        self._tries += 1
        return pause * (1 - 0.5 * self.random())

    def reset(self) -> None:
        """It worked."""
        self._tries = 0
