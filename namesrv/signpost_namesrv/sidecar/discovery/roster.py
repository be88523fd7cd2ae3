"""Which name servers to hold a link to, from what the sources say. Pure.

Sources err: a resolver that restarts answers with nothing, or with a part. So
- a source that fails, or answers with nothing, keeps its last good list;
- a name server that is no longer listed keeps its link while that works, for a while: one that
  is really gone hangs up by itself, and one that is not would lose the broker's routes.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass


@dataclass(slots=True)
class Listing:
    """What one source last said."""

    addresses: tuple[str, ...] = ()
    since: float | None = None
    """When it last said something good."""
    error: str = ""
    failures: int = 0


class Roster:
    """The lists of all sources, put together."""

    def __init__(self, sources: Iterable[str], linger: float) -> None:
        self.listings = {name: Listing() for name in sources}
        self._linger = linger
        self._leaving: dict[str, float] = {}

    def listed(self, source: str, addresses: Sequence[str], now: float) -> None:
        """A source answered."""
        listing = self.listings[source]
        if not addresses:
            self.failed(source, "the answer was empty")
            return
        before = self.listed_now()
        listing.addresses = tuple(dict.fromkeys(addresses))
        listing.since = now
        listing.error = ""
        after = self.listed_now()
        for address in after:
            self._leaving.pop(address, None)
        for address in before:
            if address not in after:
                self._leaving[address] = now

    def failed(self, source: str, error: str) -> bool:
        """A source did not answer, or not well; whether that is news."""
        listing = self.listings[source]
        listing.failures += 1
        news, listing.error = listing.error != error, error
        return news

    def listed_now(self) -> list[str]:
        """What the sources say, in their order."""
        every = (address for listing in self.listings.values() for address in listing.addresses)
        return list(dict.fromkeys(every))

    def wanted(self, works: Callable[[str], bool], now: float) -> list[str]:
        """The addresses to hold a link to; `works` tells of an address whether its link does."""
        for address, since in list(self._leaving.items()):
            if now - since >= self._linger or not works(address):
                del self._leaving[address]
        return [*self.listed_now(), *self._leaving]

    @property
    def leaving(self) -> Collection[str]:
        """Addresses that are held though no source lists them."""
        return self._leaving.keys()
