"""What the rules say, in plain dictionaries and without a thought for speed.

Written from the rules of registration and removal, not from the code that is tested with it.
"""

from dataclasses import dataclass, field
from typing import Any

WRITE = 2
Key = tuple[str, str]


@dataclass
class Plain:
    """All tables. A broker's liveness is (last, timeout, version, ha, connection, name, id)."""

    clusters: dict[str, set[str]] = field(default_factory=dict)
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    topics: dict[str, dict[str, tuple[int, int, int, int]]] = field(default_factory=dict)
    mappings: dict[str, dict[str, Any]] = field(default_factory=dict)
    filters: dict[Key, tuple[str, ...]] = field(default_factory=dict)
    live: dict[Key, dict[str, Any]] = field(default_factory=dict)

    def register(self, reg: Any, now: int, delete_unlisted: bool) -> str:
        """Returns accepted, first (accepted as the first one), conflict or refused."""
        key = (reg.cluster, reg.address)
        if key in self.live and self.live[key]["name"] != reg.name:  # an address used again
            self.remove([(reg.cluster, self.live[key]["name"], reg.address)])
        addresses = dict(self.groups.get(reg.name, {}).get("addresses", {}))
        before = {i: a for i, a in addresses.items() if a != reg.address or i == reg.broker_id}
        holder = before.get(reg.broker_id)
        if holder not in (None, reg.address) and (reg.cluster, holder) in self.live:
            held_version = self.live[reg.cluster, str(holder)]["version"]
            if held_version.state_version > reg.data_version.state_version:
                self.live.pop(key, None)
                self.groups[reg.name]["addresses"] = before
                return "conflict"
        first = reg.broker_id not in addresses
        if first and len(reg.topics) == 1:
            return "refused"

        self.clusters.setdefault(reg.cluster, set()).add(reg.name)
        group = self.groups.setdefault(reg.name, {"cluster": reg.cluster})
        group["addresses"] = {**before, reg.broker_id: reg.address}
        group["acting"] = reg.acting_master is True
        group["zone"] = reg.zone

        smallest = min(group["addresses"])
        prime_slave = reg.acting_master is not None and reg.broker_id == smallest != 0
        if reg.broker_id == 0 or prime_slave:
            known = self.live.get(key)
            changed = first or known is None or known["version"] != reg.data_version
            self._take_topics(reg, changed, prime_slave and group["acting"], delete_unlisted)

        self.live[key] = {
            "last": now,
            "timeout": 120_000 if reg.timeout_ms is None else reg.timeout_ms,
            "version": reg.data_version,
            "ha": reg.ha_address,
            "connection": reg.connection,
            "name": reg.name,
            "id": reg.broker_id,
        }
        if reg.filter_servers:
            self.filters[key] = tuple(reg.filter_servers)
        elif reg.filter_servers is not None:
            self.filters.pop(key, None)
        return "first" if first else "accepted"

    def _take_topics(self, reg: Any, changed: bool, read_only: bool, delete_unlisted: bool) -> None:
        if delete_unlisted and not reg.mappings:
            listed = [name for name, _ in reg.topics]
            for topic in list(self.topics):
                if topic not in listed and reg.name in self.topics[topic]:
                    self._drop(topic, reg.name)
        for name, t in reg.topics:
            if changed or reg.name not in self.topics.get(name, {}):
                perm = t.perm & ~WRITE if read_only else t.perm
                entry = (t.read_queue_nums, t.write_queue_nums, perm, t.topic_sys_flag)
                self.topics.setdefault(name, {})[reg.name] = entry
        for mapping in reg.mappings:
            if changed or mapping.broker not in self.mappings.get(mapping.topic, {}):
                self.mappings.setdefault(mapping.topic, {})[mapping.broker] = mapping

    def heartbeat(self, key: Key, now: int) -> bool:
        if key in self.live:
            self.live[key]["last"] = now
        return key in self.live

    def silent(self, now: int) -> set[Key]:
        return {k for k, live in self.live.items() if now > live["last"] + live["timeout"]}

    def of_connection(self, connection: object) -> set[Key]:
        return {k for k, live in self.live.items() if live["connection"] == connection}

    def remove(self, departures: list[tuple[str, str, str]]) -> None:
        """Each is (cluster, name, address)."""
        touched = set()
        for cluster, name, address in departures:
            if self.live.get((cluster, address), {"name": name})["name"] != name:
                continue
            self.live.pop((cluster, address), None)
            self.filters.pop((cluster, address), None)
            if name in self.groups:
                touched.add(name)
                addresses = self.groups[name]["addresses"]
                for broker_id in [i for i, a in addresses.items() if a == address]:
                    del addresses[broker_id]
                if not addresses:
                    self._forget_group(name)
        for name in touched & set(self.groups):
            group = self.groups[name]
            if group["acting"] and 0 not in group["addresses"]:
                self.permit(name, False)

    def _forget_group(self, name: str) -> None:
        del self.groups[name]
        for cluster in list(self.clusters):
            self.clusters[cluster].discard(name)
            if not self.clusters[cluster]:
                del self.clusters[cluster]
        for topic in {*self.topics, *self.mappings}:
            self._drop(topic, name)

    def _drop(self, topic: str, broker: str) -> None:
        for table in (self.topics, self.mappings):
            if topic in table:
                table[topic].pop(broker, None)
                if not table[topic]:
                    del table[topic]

    def delete_topic(self, topic: str, cluster: str | None) -> None:
        for broker in list(self.topics.get(topic, {})):
            if not cluster or broker in self.clusters.get(cluster, set()):
                self._drop(topic, broker)

    def register_topic(self, topic: str, entries: list[Any]) -> bool:
        if any(q.broker not in self.groups for q in entries):
            return False
        for q in entries:
            self.topics.setdefault(topic, {})[q.broker] = (q.read, q.write, q.perm, q.sys_flag)
        return True

    def permit(self, broker: str, writable: bool) -> int:
        """4 and 2 with permission, only without the 2 otherwise."""
        count = 0
        for entries in self.topics.values():
            if broker in entries:
                read, write, perm, flag = entries[broker]
                entries[broker] = (read, write, 6 if writable else perm & ~WRITE, flag)
                count += 1
        return count
