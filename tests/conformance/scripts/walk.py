"""A random walk: brokers come, change and go, and everything is looked at on the way."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.conformance.bodies import Registration, Topic, crc, queue_datas
from tests.conformance.script import How, Member, Script, Step, ask

TOPICS = [f"t{number}" for number in range(8)]
GROUPS = {"a": "C", "b": "C", "c": "D"}
MEMBERS = [
    Member(group, number, f"10.1.{at}.{number}:10911", cluster)
    for at, (group, cluster) in enumerate(GROUPS.items())
    for number in range(3)
]


class Walk:
    """The choices of one seed. Addresses and ids do not clash: that is scripted elsewhere."""

    def __init__(self, seed: int, acting: bool) -> None:
        self._random = random.Random(seed)
        self._acting = acting
        self._counters = dict.fromkeys((member.address for member in MEMBERS), 0)
        self._tables: dict[str, Sequence[Topic]] = {}

    def steps(self, count: int) -> Script:
        """This many changes, each followed by a few look-ups."""
        changes = [self._register] * 6 + [
            self._remove,
            self._permission,
            self._delete,
            self._by_name,
            self._kv,
        ]
        for _ in range(count):
            yield self._random.choice(changes)()
            for _ in range(3):
                yield self._look()

    def _how(self) -> How:
        version = self._random.choice((0, 400, 401, 412, 413, 479))
        return How(
            version, self._random.choice(("JSON", "ROCKETMQ")), self._random.choice(("JAVA", "GO"))
        )

    def _register(self) -> Step:
        member = self._random.choice(MEMBERS)
        known = member.address in self._tables
        if not known or self._random.random() < 0.6:
            self._counters[member.address] += 1
            self._tables[member.address] = self._topics(2)
        topics = self._tables[member.address]
        if known and self._random.random() < 0.15:
            self._counters[member.address] += 1
            topics = self._topics(1)[:1]
        filters = self._random.sample(["10.8.0.1:1", "10.8.0.2:2"], self._random.randrange(3))
        body = Registration(topics, self._counters[member.address], filters=filters)
        return self._sent(member, body)

    def _sent(self, member: Member, body: Registration) -> Step:
        how = How(
            self._random.choice((37, 401, 413, 479)), self._random.choice(("JSON", "ROCKETMQ"))
        )
        fields: dict[str, str | None] = {"enableActingMaster": "true"} if self._acting else {}
        if member.group == "b":
            fields["__ZONE_NAME"] = "zone"
        packed = self._random.random() < 0.5
        data = body.compressed(mappings=how.version >= 413) if packed else body.plain()
        fields |= {"compressed": "true"} if packed else {}
        fields |= {"bodyCrc32": crc(data)} if self._random.random() < 0.5 else {}
        return member.joins(f"walk, version {how.version}", data, how, **fields)

    def _topics(self, least: int) -> Sequence[Topic]:
        names = self._random.sample(TOPICS, self._random.randrange(least, len(TOPICS)))
        return [
            Topic(name, self._size(), self._size(), self._random.choice((2, 4, 6, 7)))
            for name in names
        ]

    def _size(self) -> int:
        return self._random.randrange(1, 9)

    def _remove(self) -> Step:
        if not self._tables:
            return self._look()
        address = self._random.choice(sorted(self._tables))
        del self._tables[address]
        (member,) = (member for member in MEMBERS if member.address == address)
        return self._random.choice((member.leaves, member.hangs_up))("walk")

    def _permission(self) -> Step:
        return ask(
            "walk", self._random.choice((205, 327)), b"", self._how(), brokerName=self._group()
        )

    def _delete(self) -> Step:
        where = self._random.choice(({}, {"clusterName": self._random.choice("CDX")}))
        return ask("walk", 216, b"", self._how(), topic=self._random.choice(TOPICS), **where)

    def _by_name(self) -> Step:
        body = queue_datas(self._group(), read=self._size())
        return ask("walk", 217, body, self._how(), topic=self._random.choice(TOPICS))

    def _kv(self) -> Step:
        fields = {"namespace": "ORDER_TOPIC_CONFIG", "key": self._random.choice(TOPICS)}
        if self._random.random() < 0.4:
            return ask("walk", 102, b"", self._how(), **fields)
        return ask("walk", 100, b"", self._how(), **fields, value=f"a:{self._random.randrange(9)}")

    def _group(self) -> str:
        return self._random.choice((*GROUPS, "nobody"))

    def _look(self) -> Step:
        member = self._random.choice(MEMBERS)
        zone = {"__ZONE_MODE": "true", "__ZONE_NAME": "zone"}
        code, fields = self._random.choice(
            (
                (105, {"topic": self._random.choice(TOPICS)}),
                (105, {"topic": self._random.choice(TOPICS), **zone}),
                (105, {"topic": self._random.choice(TOPICS), "acceptStandardJsonOnly": "true"}),
                (106, {}),
                (206, {}),
                (304, {}),
                (224, {"cluster": self._random.choice("CDX")}),
                (901, {"clusterName": member.cluster, "brokerName": self._group()}),
                (219, {"namespace": "ORDER_TOPIC_CONFIG"}),
                (904, member.fields),
                (322, member.fields),
            )
        )
        body = b"{}" if code == 322 else b""
        return ask("walk", code, body, self._how(), **fields)
