"""A digest of everything routes are made of, whatever the order in which it was learnt.

It is the sum of one hash per fact, so adding and removing a fact are one addition each. Two
tables with the same facts have the same sum; with 128 bits, only they do.
"""

import json
from hashlib import blake2b

from .model import BrokerKey, Group, Queues, StaticMapping

_MASK = (1 << 128) - 1


class Digest:
    """The running sum."""

    __slots__ = ("_sum",)

    def __init__(self) -> None:
        self._sum = 0

    def __str__(self) -> str:
        return f"{self._sum:032x}"

    def replace(self, old: int, new: int) -> None:
        """Take one fact's hash out and put another's in; 0 stands for no fact."""
        self._sum = (self._sum - old + new) & _MASK


def of_queues(topic: str, queues: Queues | None) -> int:
    """The hash of one topic's queues on one broker."""
    if queues is None:
        return 0
    q = queues
    # The lengths keep names apart, whatever characters are in them.
    names = f"{len(topic)} {len(q.broker)} {topic}{q.broker}"
    return _hash(f"q {q.read} {q.write} {q.perm} {q.sys_flag} {names}")


def of_group(group: Group | None) -> int:
    """The hash of one broker group."""
    if group is None:
        return 0
    addresses = sorted(group.addresses.items())
    return _hash(_text("g", group.name, group.cluster, group.acting_master, group.zone, addresses))


def of_member(cluster: str, broker: str) -> int:
    """The hash of a broker name's membership in a cluster."""
    return _hash(_text("c", cluster, broker))


def of_mapping(mapping: StaticMapping | None) -> int:
    """The hash of one static topic mapping."""
    if mapping is None:
        return 0
    m = mapping
    ids = sorted(m.queue_ids.items())
    return _hash(_text("m", m.topic, m.broker, m.total_queues, m.epoch, m.dirty, m.scope, ids))


def of_filters(key: BrokerKey, servers: tuple[str, ...] | None) -> int:
    """The hash of one broker's filter servers."""
    if not servers:
        return 0
    return _hash(_text("f", key.cluster, key.address, servers))


def _text(*parts: object) -> str:
    """The parts, so that no other parts give the same text."""
    return json.dumps(parts)


def _hash(fact: str) -> int:
    return int.from_bytes(blake2b(fact.encode(errors="surrogatepass"), digest_size=16).digest())
