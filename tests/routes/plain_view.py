"""The tables under test as the plain model shows its own, and copies that changes are played on."""

from typing import Any

from signpost_namesrv.routes import digest
from signpost_namesrv.routes.changes import (
    Change,
    FiltersChanged,
    GroupChanged,
    MappingChanged,
    MemberChanged,
    QueuesChanged,
)
from signpost_namesrv.routes.tables import Tables

from .plain_model import Plain

State = dict[str, dict[Any, Any]]
"""By table, then by what identifies a fact: the same for both sides."""


def of_tables(tables: Tables) -> State:
    return {
        "queues": {(t, q.broker): q for t, entries in tables.topics.items() for q in entries},
        "groups": dict(tables.groups),
        "members": {(c, b): True for c, brokers in tables.clusters.items() for b in brokers},
        "mappings": {(t, b): m for t, found in tables.mappings.items() for b, m in found.items()},
        "filters": dict(tables.filters),
    }


def shown(tables: Tables) -> dict[str, Any]:
    """Everything, liveness too, as plain values."""
    return {
        "clusters": {c: set(names) for c, names in tables.clusters.items()},
        "groups": {
            n: {
                "cluster": g.cluster,
                "addresses": dict(g.addresses),
                "acting": g.acting_master,
                "zone": g.zone,
            }
            for n, g in tables.groups.items()
        },
        "topics": {
            t: {q.broker: (q.read, q.write, q.perm, q.sys_flag) for q in entries}
            for t, entries in tables.topics.items()
        },
        "mappings": {t: dict(found) for t, found in tables.mappings.items()},
        "filters": {(k.cluster, k.address): v for k, v in tables.filters.items()},
        "live": {
            (k.cluster, k.address): {
                "last": live.last_update_ms,
                "timeout": live.timeout_ms,
                "version": live.data_version,
                "ha": live.ha_address,
                "connection": live.connection,
                "name": live.name,
                "id": live.broker_id,
            }
            for k, live in tables.live.items()
        },
    }


def shown_model(model: Plain) -> dict[str, Any]:
    return dict(vars(model))


def digest_of(tables: Tables) -> str:
    """From scratch, fact by fact."""
    total = digest.Digest()
    for topic, entries in tables.topics.items():
        for queues in entries:
            total.replace(0, digest.of_queues(topic, queues))
    for group in tables.groups.values():
        total.replace(0, digest.of_group(group))
    for cluster, brokers in tables.clusters.items():
        for broker in brokers:
            total.replace(0, digest.of_member(cluster, broker))
    for found in tables.mappings.values():
        for mapping in found.values():
            total.replace(0, digest.of_mapping(mapping))
    for key, servers in tables.filters.items():
        total.replace(0, digest.of_filters(key, servers))
    return str(total)


def play(state: State, change: Change) -> None:
    """Apply one change to a copy, as a watcher of the change feed would."""
    match change:
        case QueuesChanged():
            _set(state["queues"], (change.topic, change.broker), change.queues)
        case GroupChanged():
            _set(state["groups"], change.broker, change.group)
        case MemberChanged():
            _set(state["members"], (change.cluster, change.broker), change.present or None)
        case MappingChanged():
            _set(state["mappings"], (change.topic, change.broker), change.mapping)
        case FiltersChanged():
            _set(state["filters"], change.key, change.servers)


def _set(table: dict[Any, Any], key: Any, value: Any) -> None:
    if value is None:
        del table[key]
    else:
        table[key] = value
