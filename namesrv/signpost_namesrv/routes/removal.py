"""What takes brokers out of the tables: one removal for every cause, many brokers in one pass."""

from collections.abc import Collection, Generator

import msgspec

from .model import BrokerKey, Connection, Live, MinIdChange, Policy
from .notify import min_id_change
from .tables import Tables, Turn
from .topics import set_writable


class Departure(msgspec.Struct, frozen=True, gc=False):
    """A broker that is to go."""

    cluster: str
    name: str
    broker_id: int
    address: str


Removing = Generator[None, None, list[MinIdChange]]


def expired(tables: Tables, now: int) -> list[Live]:
    """The brokers that have been silent for longer than their timeout."""
    return [b for b in tables.live.values() if b.last_update_ms + b.timeout_ms < now]


def departures_of(tables: Tables, connection: Connection) -> list[Departure]:
    """The brokers that live by this connection: not one that has since come by another."""
    return [departure_of(tables.live[key]) for key in tables.brokers_of(connection)]


def departure_of(live: Live) -> Departure:
    """The departure of a known broker."""
    return Departure(live.key.cluster, live.name, live.broker_id, live.key.address)


def remove(tables: Tables, policy: Policy, departures: Collection[Departure], now: int) -> Removing:
    """Remove brokers, and what only they held up, in one pass over their topics."""
    lost_min_id: dict[str, str] = {}
    reduced: set[str] = set()
    gone: set[str] = set()
    for leaving in departures:
        key = BrokerKey(leaving.cluster, leaving.address)
        live = tables.live.get(key)
        if live is not None and live.name != leaving.name:
            continue  # the address is another broker's by now
        tables.drop_live(key)
        tables.put_filters(key, None, now)
        group = tables.groups.get(leaving.name)
        if group is None:
            continue
        if group.min_id is not None and group.addresses[group.min_id] == leaving.address:
            lost_min_id[leaving.name] = leaving.address
        kept = {i: a for i, a in group.addresses.items() if a != leaving.address}
        if kept:
            reduced.add(leaving.name)
            tables.put_group(leaving.name, msgspec.structs.replace(group, addresses=kept), now)
            continue
        tables.put_group(leaving.name, None, now)
        tables.incomplete.discard(leaving.name)
        reduced.discard(leaving.name)
        gone.add(leaving.name)
        for cluster in list(tables.clusters):
            tables.put_member(cluster, leaving.name, False, now)

    wiped = frozenset(name for name in reduced if _lacks_acting_master(tables, name))
    if gone or wiped:
        yield from _clean_topics(tables, frozenset(gone), wiped, now)
    if not policy.notify_min_id_change:
        return []
    return [
        change
        for name, address in lost_min_id.items()
        if name in tables.groups and tables.groups[name].acting_master
        for change in min_id_change(tables.groups[name], offline_address=address)
    ]


def _lacks_acting_master(tables: Tables, name: str) -> bool:
    group = tables.groups[name]
    return group.acting_master and not group.has_master


def _clean_topics(
    tables: Tables, gone: frozenset[str], wiped: frozenset[str], now: int
) -> Generator[None, None, None]:
    for broker in wiped:
        yield from set_writable(tables, broker, False, now)
    turn = Turn(tables)
    for broker in gone:
        for topic in tables.topics_of(broker):  # what several had is gone with the first
            tables.drop_queues(topic, gone, now)
            if turn.is_over():
                yield
    for topic, mappings in list(tables.mappings.items()):  # of topics that nobody has
        for broker in gone.intersection(mappings):
            tables.put_mapping(topic, broker, None, now)
