"""Changes to topics that no registration makes: deletion, single registration, permissions."""

from collections.abc import Generator, Sequence

import msgspec

from .model import PERM_READ, PERM_WRITE, Queues
from .tables import Tables, Turn


def delete_topic(tables: Tables, topic: str, cluster: str | None, now: int) -> None:
    """Remove a topic, from one cluster's brokers or from all.

    A broker that still has the topic puts it back with its next registration.
    """
    entries = tables.topics.get(topic, ())
    brokers = frozenset(q.broker for q in entries)
    if cluster:
        brokers &= tables.clusters.get(cluster, frozenset())
    tables.incomplete |= brokers
    tables.drop_queues(topic, brokers, now)


def register_topic(tables: Tables, topic: str, entries: Sequence[Queues], now: int) -> bool:
    """Set a topic's queues on brokers that are all known; else change nothing."""
    if not all(queues.broker in tables.groups for queues in entries):
        return False
    for queues in entries:
        tables.put_queues(topic, queues, now)
        tables.incomplete.add(queues.broker)
    return True


def set_writable(
    tables: Tables, broker: str, writable: bool, now: int
) -> Generator[None, None, int]:
    """Give or take a broker's write permission on all its topics; how many topics it has."""
    topics = tables.topics_of(broker)
    turn = Turn(tables)
    for topic in topics:
        queues = tables.queues(topic, broker)
        if queues is not None:
            perm = PERM_READ | PERM_WRITE if writable else queues.perm & ~PERM_WRITE
            tables.put_queues(topic, msgspec.structs.replace(queues, perm=perm), now)
        if turn.is_over():
            yield
    return len(topics)
