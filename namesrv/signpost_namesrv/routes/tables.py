"""The tables and the only functions that write to them.

Each write keeps the digest, takes the next revision and is logged; a write of what is there
already is none. The rules of what to write when are in the modules beside this one.
"""

from collections.abc import Mapping

from . import digest
from .changes import (
    ChangeLog,
    FiltersChanged,
    GroupChanged,
    MappingChanged,
    MemberChanged,
    QueuesChanged,
)
from .digest import Digest
from .model import BrokerKey, Connection, Group, Live, Queues, StaticMapping

_SLICE = 256

_MAX_SHARED = 4096


class Tables:
    """Topic to queues, broker to addresses, cluster to brokers, liveness, filter servers.

    A topic's queues are a tuple sorted by broker name: small, and safe to hand out.
    """

    def __init__(self, log_size: int = 16_384) -> None:
        self.topics: dict[str, tuple[Queues, ...]] = {}
        self.groups: dict[str, Group] = {}
        self.clusters: dict[str, frozenset[str]] = {}
        self.live: dict[BrokerKey, Live] = {}
        self.filters: dict[BrokerKey, tuple[str, ...]] = {}
        self.mappings: dict[str, Mapping[str, StaticMapping]] = {}
        self.digest = Digest()
        self.log = ChangeLog(log_size)
        self.incomplete: set[str] = set()
        """Brokers whose next registration must be read even if it says nothing new: others
        changed their topics, or which of the group speaks for them."""
        self._topics_of: dict[str, dict[str, None]] = {}  # sets take four times the memory
        self._connections: dict[Connection, set[BrokerKey]] = {}
        self._shared: dict[Queues, Queues] = {}

    @property
    def revision(self) -> int:
        """How many changes there were."""
        return self.log.revision

    def queues(self, topic: str, broker: str) -> Queues | None:
        """A topic's queues on one broker."""
        for queues in self.topics.get(topic, ()):
            if queues.broker == broker:
                return queues
        return None

    def topics_of(self, broker: str) -> frozenset[str]:
        """The topics that have queues on a broker."""
        return frozenset(self._topics_of.get(broker, ()))

    def put_queues(self, topic: str, queues: Queues, now: int) -> None:
        """Set a topic's queues on one broker."""
        entries = self.topics.get(topic, ())
        broker, place, old = queues.broker, 0, None
        for entry in entries:
            if entry.broker >= broker:
                old = entry if entry.broker == broker else None
                break
            place += 1
        if old == queues:
            return
        queues = self._share(queues)
        after = entries[place:] if old is None else entries[place + 1 :]
        self.topics[topic] = (*entries[:place], queues, *after)
        self._queues_changed(topic, queues.broker, old, queues, now)

    def drop_queues(self, topic: str, brokers: frozenset[str], now: int) -> None:
        """Remove a topic's queues on some brokers, and the topic with its last."""
        entries = self.topics.get(topic, ())
        kept = tuple(q for q in entries if q.broker not in brokers)
        if len(kept) == len(entries):
            return
        if kept:
            self.topics[topic] = kept
        else:
            del self.topics[topic]
        for queues in entries:
            if queues.broker in brokers:
                self._queues_changed(topic, queues.broker, queues, None, now)
                self.put_mapping(topic, queues.broker, None, now)

    def put_group(self, name: str, group: Group | None, now: int) -> None:
        """Set or remove a broker group."""
        old = self.groups.get(name)
        if old == group:
            return
        if group is None:
            del self.groups[name]
        else:
            self.groups[name] = group
            if old is not None and old.min_id != group.min_id:
                self.incomplete.add(name)
        self.digest.replace(digest.of_group(old), digest.of_group(group))
        self.log.append(GroupChanged(self.revision + 1, now, name, group))

    def put_member(self, cluster: str, broker: str, present: bool, now: int) -> None:
        """Let a broker name join or leave a cluster; a cluster without any is no more."""
        members = self.clusters.get(cluster, frozenset())
        if (broker in members) == present:
            return
        members = members | {broker} if present else members - {broker}
        if members:
            self.clusters[cluster] = members
        else:
            del self.clusters[cluster]
        fact = digest.of_member(cluster, broker)
        self.digest.replace(0 if present else fact, fact if present else 0)
        self.log.append(MemberChanged(self.revision + 1, now, cluster, broker, present))

    def put_mapping(self, topic: str, broker: str, mapping: StaticMapping | None, now: int) -> None:
        """Set or remove a static topic's mapping on one broker."""
        mappings = self.mappings.get(topic, {})
        old = mappings.get(broker)
        if old == mapping:
            return
        kept = {name: m for name, m in mappings.items() if name != broker}
        if mapping is not None:
            kept[broker] = mapping
        if kept:
            self.mappings[topic] = kept
        else:
            del self.mappings[topic]
        self.digest.replace(digest.of_mapping(old), digest.of_mapping(mapping))
        self.log.append(MappingChanged(self.revision + 1, now, topic, broker, mapping))

    def put_filters(self, key: BrokerKey, servers: tuple[str, ...] | None, now: int) -> None:
        """Set a broker's filter servers; none at all removes them."""
        old = self.filters.get(key)
        servers = servers or None
        if old == servers:
            return
        if servers is None:
            del self.filters[key]
        else:
            self.filters[key] = servers
        self.digest.replace(digest.of_filters(key, old), digest.of_filters(key, servers))
        self.log.append(FiltersChanged(self.revision + 1, now, key, servers))

    def put_live(self, live: Live) -> None:
        """Write a broker's liveness. It is no route, so it has no revision."""
        self.drop_live(live.key)
        self.live[live.key] = live
        if live.connection is not None:
            self._connections.setdefault(live.connection, set()).add(live.key)

    def drop_live(self, key: BrokerKey) -> Live | None:
        """Forget a broker's liveness."""
        live = self.live.pop(key, None)
        if live is not None and live.connection is not None:
            keys = self._connections[live.connection]
            keys.discard(key)
            if not keys:
                del self._connections[live.connection]
        return live

    def brokers_of(self, connection: Connection) -> frozenset[BrokerKey]:
        """The brokers whose newest registration came over this connection."""
        return frozenset(self._connections.get(connection, ()))

    def _queues_changed(
        self, topic: str, broker: str, old: Queues | None, new: Queues | None, now: int
    ) -> None:
        if old is None:
            self._topics_of.setdefault(broker, {})[topic] = None
        elif new is None:
            topics = self._topics_of[broker]
            del topics[topic]
            if not topics:
                del self._topics_of[broker]
        self.digest.replace(digest.of_queues(topic, old), digest.of_queues(topic, new))
        self.log.append(QueuesChanged(self.revision + 1, now, topic, broker, new))

    def _share(self, queues: Queues) -> Queues:
        """Most topics of a broker have equal queues: keep one value for all of them."""
        if len(self._shared) >= _MAX_SHARED:
            self._shared.clear()
        return self._shared.setdefault(queues, queues)


class Turn:
    """Tells a long change when to let others have a turn: by its steps and what they changed."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._steps = 0
        self._began = tables.revision

    def is_over(self) -> bool:
        """Ask after each step; true begins the next turn."""
        self._steps += 1
        if self._steps + self._tables.revision - self._began < _SLICE:
            return False
        self._steps = 0
        self._began = self._tables.revision
        return True
