"""What a registration and a heartbeat do to the tables."""

from collections.abc import Generator, Hashable, Sequence

import msgspec

from .model import (
    DEFAULT_TIMEOUT_MS,
    MASTER_ID,
    PERM_WRITE,
    BrokerKey,
    Connection,
    DataVersion,
    Group,
    Live,
    MinIdChange,
    Policy,
    Queues,
    Registration,
)
from .notify import min_id_change
from .removal import departure_of, remove
from .tables import Tables, Turn


class Registered(msgspec.Struct, frozen=True):
    """How a registration ended. A refused one changed nothing, but a conflicting one is gone.

    `conflict` tells that another address holds the brokerId with a newer state.
    """

    accepted: bool
    conflict: bool = False
    first: bool = False
    master_address: str | None = None
    ha_address: str | None = None
    notifications: Sequence[MinIdChange] = ()


Registering = Generator[None, None, Registered]


def register(tables: Tables, policy: Policy, reg: Registration, now: int) -> Registering:
    """Apply a registration, in slices."""
    old_group = tables.groups.get(reg.name)
    if old_group is not None and _is_outdated(tables, old_group, reg):
        # Whatever id it had before goes too: without liveness nothing would ever remove it.
        tables.drop_live(reg.key)
        tables.put_group(reg.name, _without(old_group, reg), now)
        return Registered(accepted=False, conflict=True)
    first = old_group is None or reg.broker_id not in old_group.addresses
    if first and len(reg.topics) == 1:
        return Registered(accepted=False)

    notifications: list[MinIdChange] = []
    previous = tables.live.get(reg.key)
    if previous is not None and previous.name != reg.name:
        # Addresses are used again: what another broker had here is over.
        notifications = yield from remove(tables, policy, [departure_of(previous)], now)

    group = _joined(old_group, reg)
    tables.put_member(reg.cluster, reg.name, True, now)
    tables.put_group(reg.name, group, now)

    if _speaks_for_topics(group, reg):
        changed = first or version_changed(tables, reg.key, reg.data_version)
        if policy.delete_with_registration and not reg.mappings:
            yield from _drop_unlisted(tables, reg, now)
        yield from _put_topics(tables, group, reg, changed, now)
        for mapping in reg.mappings:
            known = mapping.broker in tables.mappings.get(mapping.topic, {})
            if mapping.broker in tables.groups and (changed or not known):
                tables.put_mapping(mapping.topic, mapping.broker, mapping, now)
        tables.incomplete.discard(reg.name)

    tables.put_live(
        Live(
            key=reg.key,
            name=reg.name,
            broker_id=reg.broker_id,
            last_update_ms=now,
            timeout_ms=DEFAULT_TIMEOUT_MS if reg.timeout_ms is None else reg.timeout_ms,
            data_version=reg.data_version,
            ha_address=reg.ha_address,
            connection=reg.connection,
            fingerprint=reg.fingerprint,
        )
    )
    if reg.filter_servers is not None:
        tables.put_filters(reg.key, tuple(reg.filter_servers), now)

    old_min = old_group.min_id if old_group is not None else None
    if policy.notify_min_id_change and old_min is not None and reg.broker_id < old_min:
        notifications += min_id_change(tables.groups[reg.name], ha_address=reg.ha_address)
    master, ha = _master_of(tables, reg.cluster, group, reg.broker_id)
    return Registered(
        accepted=True,
        first=first,
        master_address=master,
        ha_address=ha,
        notifications=notifications,
    )


def renew(
    tables: Tables, key: BrokerKey, fingerprint: Hashable, connection: Connection, now: int
) -> Registered | None:
    """Take a registration that says the same as the broker's last one for a heartbeat.

    None when it must be read after all.
    """
    live = tables.live.get(key)
    if live is None or live.fingerprint != fingerprint or live.name in tables.incomplete:
        return None
    group = tables.groups.get(live.name)
    if group is None or group.addresses.get(live.broker_id) != key.address:
        return None
    if live.connection != connection:
        live = msgspec.structs.replace(live, connection=connection)
        tables.put_live(live)
    live.last_update_ms = now
    master, ha = _master_of(tables, key.cluster, group, live.broker_id)
    return Registered(accepted=True, master_address=master, ha_address=ha)


def heartbeat(tables: Tables, key: BrokerKey, now: int) -> bool:
    """Renew a broker's liveness; whether it was known."""
    live = tables.live.get(key)
    if live is None:
        return False
    live.last_update_ms = now
    return True


def version_changed(tables: Tables, key: BrokerKey, version: DataVersion) -> bool:
    """Whether the broker's topic table must be sent again."""
    live = tables.live.get(key)
    return live is None or live.data_version != version


def _is_outdated(tables: Tables, group: Group, reg: Registration) -> bool:
    """Whether another living address holds this brokerId with a newer state."""
    holder = group.addresses.get(reg.broker_id)
    if holder is None or holder == reg.address:
        return False
    live = tables.live.get(BrokerKey(reg.cluster, holder))
    return live is not None and live.data_version.state_version > reg.data_version.state_version


def _without(group: Group, reg: Registration) -> Group:
    """The group without what this address held until now."""
    kept = {i: a for i, a in group.addresses.items() if a != reg.address}
    return msgspec.structs.replace(group, addresses=kept)


def _joined(group: Group | None, reg: Registration) -> Group:
    """The group with this broker in it; an address has one brokerId only."""
    kept = {} if group is None else _without(group, reg).addresses
    addresses = {**kept, reg.broker_id: reg.address}
    return Group(
        name=reg.name,
        cluster=group.cluster if group is not None else reg.cluster,
        addresses=addresses,
        acting_master=bool(reg.acting_master),
        zone=reg.zone,
    )


def _speaks_for_topics(group: Group, reg: Registration) -> bool:
    return reg.broker_id == MASTER_ID or _is_prime_slave(group, reg)


def _is_prime_slave(group: Group, reg: Registration) -> bool:
    return (
        reg.acting_master is not None
        and reg.broker_id != MASTER_ID
        and reg.broker_id == group.min_id
    )


def _drop_unlisted(tables: Tables, reg: Registration, now: int) -> Generator[None, None, None]:
    unlisted = tables.topics_of(reg.name).difference(name for name, _ in reg.topics)
    broker = frozenset((reg.name,))
    turn = Turn(tables)
    for topic in unlisted:
        tables.drop_queues(topic, broker, now)
        if turn.is_over():
            yield


def _put_topics(
    tables: Tables, group: Group, reg: Registration, changed: bool, now: int
) -> Generator[None, None, None]:
    """An acting master has no write permission: it only keeps what was written readable."""
    allowed = ~0
    if group.acting_master and _is_prime_slave(group, reg):
        allowed = ~PERM_WRITE
    turn = Turn(tables)
    for name, topic in reg.topics:
        if changed or tables.queues(name, reg.name) is None:
            queues = Queues(
                reg.name,
                topic.read_queue_nums,
                topic.write_queue_nums,
                topic.perm & allowed,
                topic.topic_sys_flag,
            )
            tables.put_queues(name, queues, now)
        if turn.is_over():
            yield


def _master_of(
    tables: Tables, cluster: str, group: Group, broker_id: int
) -> tuple[str | None, str | None]:
    """What a slave is told: its master's address and where to replicate from."""
    if broker_id == MASTER_ID:
        return None, None
    master = group.addresses.get(MASTER_ID)
    live = tables.live.get(BrokerKey(cluster, master)) if master is not None else None
    return (master, live.ha_address) if live is not None else (None, None)
