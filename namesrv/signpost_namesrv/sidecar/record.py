"""What is known of one broker: the sum of its registrations, ready to be sent again. Pure.

A broker does not always register in full: a 5.x broker sends a topic that was just made as a
registration of that topic alone, and one with enableSplitRegistration sends its table in parts.
Nothing on the wire tells the two kinds apart, but a stock broker's full table always lists its
system topics. So: a registration that lacks a system topic known before is an increment.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from signpost_namesrv.wire.bodies import QueueData
from signpost_namesrv.wire.codes import FLAG_ONEWAY, RequestCode
from signpost_namesrv.wire.command import Command
from signpost_namesrv.wire.registration import TopicConfig

from .packing import Table, pack, unpack

DEFAULT_TIMEOUT_MS = 120_000

_SYSTEM_TOPICS = frozenset(
    {
        "BenchmarkTest",
        "OFFSET_MOVED_EVENT",
        "RMQ_SYS_TRANS_HALF_TOPIC",
        "RMQ_SYS_TRANS_OP_HALF_TOPIC",
        "SCHEDULE_TOPIC_XXXX",
        "SELF_TEST_TOPIC",
        "TRANS_CHECK_MAX_TIME_TOPIC",
    }
)


class BrokerId(NamedTuple):
    """One connection may register several brokers (a broker container does)."""

    cluster: str
    name: str
    id: str
    address: str

    @property
    def is_master(self) -> bool:
        """Only a master speaks for its group's topics."""
        return self.id == "0"


def broker_of(command: Command) -> BrokerId:
    """Whom a request is about."""
    names = ("clusterName", "brokerName", "brokerId", "brokerAddr")
    cluster, name, number, address = (command.field(key) or "" for key in names)
    return BrokerId(cluster, name, number, address)


class Draft(NamedTuple):
    """What a record is to become."""

    head: Command
    table: Table
    packed: Command
    increment: Command | None = None
    seen: tuple[bytes, object] | None = None


class Record:
    """One broker. Every change of what should be said of it gives it a new generation.

    Reading a large registration takes a while and may be done in a thread (`read`); only
    `apply` changes the record. Between the two nobody else may change it.
    """

    def __init__(self, broker: BrokerId) -> None:
        self.broker = broker
        self.generation = 0
        self.last_beat = 0.0
        self.read_only = False
        self.left = False
        self._now: Draft

    @property
    def table(self) -> Table:
        """The broker's table as the broker gave it."""
        return self._now.table

    @property
    def registration(self) -> Command:
        """The full registration of this generation."""
        return self._now.packed

    def increment_after(self, generation: int) -> Command | None:
        """What to send to a name server that has that generation; None: all of it."""
        return self._now.increment if generation == self.generation - 1 else None

    def version_query(self) -> Command:
        """Ask a name server whether it has this table; for it, a heartbeat."""
        cluster, name, number, address = self.broker
        fields = {"clusterName": cluster, "brokerName": name}
        fields |= {"brokerId": number, "brokerAddr": address}
        body = msgspec.json.encode(self._now.table.version)
        code = RequestCode.QUERY_DATA_VERSION
        return msgspec.structs.replace(self._now.head, code=code, fields=fields, body=body)

    def fresh(self, now: float) -> bool:
        """Whether the broker itself has been heard of within its own timeout."""
        try:
            timeout = int(self._now.head.field("heartbeatTimeoutMillis") or DEFAULT_TIMEOUT_MS)
        except ValueError:
            timeout = DEFAULT_TIMEOUT_MS
        return now - self.last_beat <= timeout / 1000

    def read(self, command: Command) -> Draft | None:
        """Read a registration; None: nothing new. BodyError when it cannot be read. Blocks."""
        seen = hashlib.blake2b(command.body).digest(), _meaning(command)
        known = self._now if self.generation else None
        if known is not None and seen == known.seen:
            return None
        said = unpack(command)
        head = msgspec.structs.replace(command, body=b"", flag=command.flag & ~FLAG_ONEWAY)
        if known is None:
            return self._draft(head, said, seen=seen)
        same_head = _meaning(head) == _meaning(known.head)
        if self._is_full(said):
            if same_head and said == known.table:
                return known._replace(seen=seen)
            return self._draft(head, said, seen=seen)
        table = _merged(known.table, said)
        if same_head and table == known.table:
            return None
        increment = self._pack(head, said) if same_head else None
        return self._draft(head, table, increment=increment)

    def read_topic(self, topic: str, entries: Sequence[QueueData]) -> Draft | None:
        """Read a REGISTER_TOPIC_IN_NAMESRV, as far as it is about this broker."""
        for queues in entries:
            if queues.broker_name == self.broker.name:
                config = TopicConfig(
                    topic,
                    queues.read_queue_nums,
                    queues.write_queue_nums,
                    queues.perm,
                    queues.topic_sys_flag,
                )
                topics = {**self._now.table.topics, topic: config}
                table = msgspec.structs.replace(self._now.table, topics=topics)
                return self._draft(self._now.head, table)
        return None

    def apply(self, draft: Draft | None) -> None:
        """Become what was read."""
        if draft is None:
            return
        if not self.generation or draft.packed is not self._now.packed:
            self.generation += 1
        self._now = draft

    def make_read_only(self) -> None:
        """From now on, say of every topic that it cannot be written."""
        if not self.read_only:
            self.read_only = True
            self.apply(self._draft(self._now.head, self._now.table))

    def _draft(
        self,
        head: Command,
        table: Table,
        increment: Command | None = None,
        seen: tuple[bytes, object] | None = None,
    ) -> Draft:
        return Draft(head, table, self._pack(head, table), increment, seen)

    def _pack(self, head: Command, table: Table) -> Command:
        return pack(head, table.without_write() if self.read_only else table)

    def _is_full(self, said: Table) -> bool:
        system = _SYSTEM_TOPICS | {self.broker.name}
        return all(topic in said.topics for topic in system if topic in self._now.table.topics)


def _meaning(command: Command) -> object:
    """What of a header matters to name servers: not which request it was, nor its body's form."""
    fields = dict(command.fields or {})
    fields.pop("bodyCrc32", None)
    fields.pop("compressed", None)
    return fields, command.version, command.language, command.binary


def _merged(known: Table, said: Table) -> Table:
    return Table(
        said.version,
        {**known.topics, **said.topics},
        {**known.mappings, **said.mappings},
        said.filter_servers or known.filter_servers,
    )
