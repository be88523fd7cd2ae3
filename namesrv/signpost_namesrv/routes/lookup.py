"""Questions to the tables. Nothing here writes."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from .model import MASTER_ID, PERM_WRITE, BrokerKey, Group, Policy, Queues, StaticMapping
from .tables import Tables

_MEMBER_SYNC_PREFIX = "rmq_sys_SYNC_BROKER_MEMBER_"

UNIT_FLAG = 1
UNIT_SUB_FLAG = 2


class Route(msgspec.Struct, frozen=True):
    """Everything a client must know to reach a topic."""

    queues: Sequence[Queues]
    groups: Sequence[Group]
    filter_servers: Mapping[str, Sequence[str]]
    mappings: Mapping[str, StaticMapping] | None


def route(tables: Tables, policy: Policy, topic: str) -> Route | None:
    """The route of a topic; None when no known broker has it."""
    entries = tables.topics.get(topic)
    if entries is None:
        return None
    groups = [tables.groups[q.broker] for q in entries if q.broker in tables.groups]
    if not groups:
        return None
    filters: dict[str, Sequence[str]] = {}
    if tables.filters:
        for group in groups:
            for address in group.addresses.values():
                servers = tables.filters.get(BrokerKey(group.cluster, address))
                if servers:
                    filters[address] = servers
    if policy.support_acting_master and not topic.startswith(_MEMBER_SYNC_PREFIX):
        writable = {q.broker for q in entries if q.perm & PERM_WRITE}
        groups = [g if g.name in writable else _with_acting_master(g) for g in groups]
    return Route(entries, groups, filters, tables.mappings.get(topic))


def in_zone(found: Route, zone: str) -> Route:
    """Keep the groups of one zone, and those whose master is gone: their slaves must serve."""
    groups = [g for g in found.groups if not g.has_master or (g.zone or "").lower() == zone.lower()]
    kept = {group.name for group in groups}
    dropped = [group for group in found.groups if group.name not in kept]
    far_names = {group.name for group in dropped}
    far_addresses = {a for group in dropped for a in group.addresses.values()}
    return Route(
        queues=[q for q in found.queues if q.broker not in far_names],
        groups=groups,
        filter_servers={
            a: servers for a, servers in found.filter_servers.items() if a not in far_addresses
        },
        mappings=found.mappings,
    )


def topics_of_cluster(tables: Tables, cluster: str) -> list[str]:
    """The topics on any broker of a cluster."""
    brokers = tables.clusters.get(cluster, frozenset())
    return topics_where(tables, lambda entries: any(q.broker in brokers for q in entries))


def topics_by_flag(tables: Tables, present: int, absent: int = 0) -> list[str]:
    """The topics whose flags have all bits of `present` and none of `absent`."""
    return topics_where(tables, lambda entries: entries[0].sys_flag & (present | absent) == present)


def topics_where(tables: Tables, wanted: Callable[[tuple[Queues, ...]], bool]) -> list[str]:
    """The topics whose queues are wanted."""
    return [topic for topic, entries in tables.topics.items() if wanted(entries)]


def _with_acting_master(group: Group) -> Group:
    """The smallest slave shown as the master, when there is none."""
    if group.has_master or not group.acting_master or group.min_id is None:
        return group
    addresses = dict(group.addresses)
    addresses[MASTER_ID] = addresses.pop(group.min_id)
    return msgspec.structs.replace(group, addresses=addresses)
