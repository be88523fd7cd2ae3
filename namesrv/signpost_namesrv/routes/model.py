"""The values in the tables. They never change: a change puts another value in their place."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Protocol

import msgspec

MASTER_ID = 0
PERM_WRITE = 2
PERM_READ = 4
DEFAULT_TIMEOUT_MS = 120_000

Connection = Hashable
"""Whatever the caller knows a connection by."""


class BrokerKey(msgspec.Struct, frozen=True, order=True, gc=False):
    """Liveness belongs to an address in a cluster."""

    cluster: str
    address: str


class DataVersion(msgspec.Struct, frozen=True, gc=False):
    """The version of a broker's topic table. Equal when all three numbers are."""

    state_version: int = 0
    timestamp: int = 0
    counter: int = 0


class Queues(msgspec.Struct, frozen=True, gc=False):
    """The queues of one topic on one broker group."""

    broker: str
    read: int
    write: int
    perm: int
    sys_flag: int = 0


class Group(msgspec.Struct, frozen=True):
    """The brokers of one name: a master (id 0) and its slaves."""

    name: str
    cluster: str
    addresses: Mapping[int, str]
    acting_master: bool = False
    zone: str | None = None

    @property
    def has_master(self) -> bool:
        """Whether brokerId 0 is taken."""
        return MASTER_ID in self.addresses

    @property
    def min_id(self) -> int | None:
        """The smallest brokerId, if there is any broker."""
        return min(self.addresses, default=None)


class StaticMapping(msgspec.Struct, frozen=True):
    """Where a static topic's logical queues live on one broker."""

    topic: str
    broker: str
    total_queues: int = 0
    epoch: int = 0
    scope: str | None = None
    dirty: bool = False
    queue_ids: Mapping[int, int] = {}


class Live(msgspec.Struct):
    """What is known of one broker's life. The only value here that changes: with every beat."""

    key: BrokerKey
    name: str
    broker_id: int
    last_update_ms: int
    timeout_ms: int
    data_version: DataVersion
    ha_address: str | None
    connection: Connection | None
    fingerprint: Hashable = None


class Topic(Protocol):
    """What a registration says of one topic."""

    @property
    def read_queue_nums(self) -> int: ...  # noqa: D102
    @property
    def write_queue_nums(self) -> int: ...  # noqa: D102
    @property
    def perm(self) -> int: ...  # noqa: D102
    @property
    def topic_sys_flag(self) -> int: ...  # noqa: D102


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    """A broker's own account of itself.

    `acting_master` is None for a broker too old to know of it. `fingerprint`, when not None, is
    equal for two registrations only if they say the same.
    """

    cluster: str
    name: str
    broker_id: int
    address: str
    ha_address: str | None = None
    zone: str | None = None
    timeout_ms: int | None = None
    acting_master: bool | None = None
    data_version: DataVersion = DataVersion()
    topics: Sequence[tuple[str, Topic]] = ()
    mappings: Sequence[StaticMapping] = ()
    filter_servers: Sequence[str] | None = None
    connection: Connection | None = None
    fingerprint: Hashable = None

    @property
    def key(self) -> BrokerKey:
        """Where its liveness is kept."""
        return BrokerKey(self.cluster, self.address)


class MinIdChange(msgspec.Struct, frozen=True):
    """A group's smallest live brokerId changed; the brokers at these addresses are to be told."""

    targets: Sequence[str]
    broker: str
    min_id: int
    min_address: str
    offline_address: str | None
    ha_address: str | None


class Policy(msgspec.Struct, frozen=True):
    """The settings that the rules depend on."""

    support_acting_master: bool = False
    notify_min_id_change: bool = False
    delete_with_registration: bool = False
