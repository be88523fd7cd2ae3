"""A digest of everything routes are made of, whatever the order in which it was learnt.

It is the sum of one hash per fact, so adding and removing a fact are one addition each. Two
tables with the same facts have the same sum; with 128 bits, only they do.
"""

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
    return _hash(f"q\0{topic}\0{q.broker}\0{q.read} {q.write} {q.perm} {q.sys_flag}")


def of_group(group: Group | None) -> int:
    """The hash of one broker group."""
    if group is None:
        return 0
    addresses = "\0".join(f"{i}={a}" for i, a in sorted(group.addresses.items()))
    zone = "" if group.zone is None else f"z{group.zone}"
    return _hash(f"g\0{group.name}\0{group.cluster}\0{group.acting_master}\0{zone}\0{addresses}")


def of_member(cluster: str, broker: str) -> int:
    """The hash of a broker name's membership in a cluster."""
    return _hash(f"c\0{cluster}\0{broker}")


def of_mapping(mapping: StaticMapping | None) -> int:
    """The hash of one static topic mapping."""
    if mapping is None:
        return 0
    m = mapping
    ids = ",".join(f"{k}={v}" for k, v in sorted(m.queue_ids.items()))
    return _hash(
        f"m\0{m.topic}\0{m.broker}\0{m.total_queues} {m.epoch} {m.dirty}\0{m.scope}\0{ids}"
    )


def of_filters(key: BrokerKey, servers: tuple[str, ...] | None) -> int:
    """The hash of one broker's filter servers."""
    if not servers:
        return 0
    listed = "\0".join(servers)
    return _hash(f"f\0{key.cluster}\0{key.address}\0{listed}")


def _hash(fact: str) -> int:
    return int.from_bytes(blake2b(fact.encode(errors="surrogatepass"), digest_size=16).digest())
