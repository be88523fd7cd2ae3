"""What a source of addresses is, and following one."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

from signpost_namesrv import logs

from .addresses import AddressError, parse_list
from .roster import Roster

log = logs.get("discovery")

RETRY_SECONDS = 2.0


class DiscoveryError(Exception):
    """A source gave no list; the message says why."""


class Found(NamedTuple):
    """A list, and after how many seconds to look again."""

    addresses: tuple[str, ...]
    again: float


class Source(Protocol):
    """Somewhere to look for name servers."""

    name: str

    async def look(self) -> Found:
        """Look; may wait until there is something new. DiscoveryError when there is no list."""

    async def close(self) -> None:
        """Let go of connections."""


class Fixed:
    """A list that was written into the settings."""

    name = "fixed list"

    def __init__(self, addresses: tuple[str, ...]) -> None:
        self._addresses = addresses

    async def look(self) -> Found:
        """Always the same."""
        return Found(self._addresses, float("inf"))

    async def close(self) -> None:
        """Nothing is held."""


def parsed(text: str) -> tuple[str, ...]:
    """A list that came from elsewhere."""
    try:
        return parse_list(text)
    except AddressError as e:
        raise DiscoveryError(str(e)) from e


async def follow(
    source: Source,
    roster: Roster,
    changed: Callable[[], None],
    now: Callable[[], float],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Look for ever; tell the roster, and `changed` after every look."""
    while True:
        pause = RETRY_SECONDS
        try:
            found = await source.look()
        except DiscoveryError as e:
            _complain(roster, source.name, str(e))
        except Exception as e:  # a bug in one source must not end discovery
            _complain(roster, source.name, f"{type(e).__name__}: {e}")
        else:
            if found.addresses:
                roster.listed(source.name, found.addresses, now())
                pause = found.again
            else:
                _complain(roster, source.name, "the answer was empty")
        changed()
        if pause == float("inf"):
            return
        await sleep(pause)


def _complain(roster: Roster, source: str, reason: str) -> None:
    if roster.failed(source, reason):
        log.warning("name servers not found, the last list stays", source=source, reason=reason)
