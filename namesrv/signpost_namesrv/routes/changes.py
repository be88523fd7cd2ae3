"""The change log: what happened to the tables, each with the next revision, the newest few."""

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice

import msgspec

from .model import BrokerKey, Group, Queues, StaticMapping


class _Change(msgspec.Struct, frozen=True, tag_field="kind"):
    revision: int
    time_ms: int


class QueuesChanged(_Change, frozen=True, tag="queues"):
    """A topic's queues on one broker are now these, or gone."""

    topic: str
    broker: str
    queues: Queues | None


class GroupChanged(_Change, frozen=True, tag="group"):
    """A broker group is now this, or gone."""

    broker: str
    group: Group | None


class MemberChanged(_Change, frozen=True, tag="member"):
    """A broker name joined or left a cluster."""

    cluster: str
    broker: str
    present: bool


class MappingChanged(_Change, frozen=True, tag="mapping"):
    """A static topic's mapping on one broker is now this, or gone."""

    topic: str
    broker: str
    mapping: StaticMapping | None


class FiltersChanged(_Change, frozen=True, tag="filters"):
    """A broker's filter servers are now these, or gone."""

    key: BrokerKey
    servers: tuple[str, ...] | None


Change = QueuesChanged | GroupChanged | MemberChanged | MappingChanged | FiltersChanged
Listener = Callable[[Change], None]


class ChangeLog:
    """Holds the newest `size` changes and tells listeners of each."""

    def __init__(self, size: int) -> None:
        self._changes: deque[Change] = deque(maxlen=size)
        self._listeners: list[Listener] = []
        self.revision = 0

    @property
    def oldest_known(self) -> int:
        """The smallest revision after which every change is still here."""
        return self.revision - len(self._changes)

    def append(self, change: Change) -> None:
        """Add the change that leads to its revision, which must be the next one."""
        self.revision = change.revision
        self._changes.append(change)
        for listener in self._listeners:
            listener(change)

    def since(self, revision: int) -> Iterator[Change]:
        """The changes after `revision`, oldest first. It must not be older than the log."""
        return islice(self._changes, max(0, revision - self.oldest_known), None)

    def page(self, revision: int, limit: int) -> list[Change]:
        """The first `limit` changes after `revision`, which must not be older than the log."""
        start = revision - self.oldest_known
        # By index: near both ends, where readers are, that is quicker than walking there.
        return [self._changes[i] for i in range(start, min(start + limit, len(self._changes)))]

    def subscribe(self, listener: Listener) -> None:
        """Have every further change told to `listener`, at once and in order."""
        self._listeners.append(listener)
