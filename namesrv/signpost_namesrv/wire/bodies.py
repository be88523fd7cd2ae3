"""Bodies other than a registration's: one declaration per body.

Fields stand in the alphabetical order in which Java peers write them; UNSET is left out.
"""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from . import dialect

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
"""More than Java reads would spoil the route for every client, not only for its sender."""

T = TypeVar("T")
K = TypeVar("K", int, str)
V = TypeVar("V")


class DataVersion(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The version of a broker's topic table. Equal when all three numbers are."""

    counter: int = 0
    state_version: int = 0
    timestamp: int = 0


class QueueData(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """How many queues of a topic one broker group holds, and what may be done with them."""

    broker_name: str = ""
    perm: Int32 = 0
    read_queue_nums: Int32 = 0
    topic_sys_flag: Int32 = 0
    write_queue_nums: Int32 = 0


class BrokerData(msgspec.Struct, frozen=True, rename="camel"):
    """The addresses of one broker group by brokerId."""

    broker_addrs: dict[int, str]
    broker_name: str
    cluster: str
    enable_acting_master: bool = False
    zone_name: str | UnsetType | None = UNSET


class MappingInfo(msgspec.Struct, frozen=True, rename="camel"):
    """Where a static topic's logical queues live on one broker."""

    bname: str = ""
    curr_id_map: dict[Int32, Int32] = {}
    dirty: bool = False
    epoch: int = 0
    scope: str | None = "__global__"
    topic: str = ""
    total_queues: Int32 = 0


class TopicRouteData(msgspec.Struct, frozen=True, rename="camel"):
    """Everything a client must know to reach a topic."""

    broker_datas: list[BrokerData] = []
    filter_server_table: dict[str, list[str]] = {}
    order_topic_conf: str | UnsetType | None = UNSET
    queue_datas: list[QueueData] = []
    topic_queue_mapping_by_broker: dict[str, MappingInfo] | UnsetType | None = UNSET


class _TopicQueues(msgspec.Struct, rename="camel"):
    queue_datas: list[QueueData | None] | None = None


class ClusterInfo(msgspec.Struct, frozen=True, rename="camel"):
    """All broker groups, and which of them form a cluster."""

    broker_addr_table: dict[str, BrokerData]
    cluster_addr_table: dict[str, list[str]]


class TopicList(msgspec.Struct, frozen=True, rename="camel"):
    """Names of topics, and for one request also an address."""

    broker_addr: str | UnsetType
    topic_list: list[str]


class KvTable(msgspec.Struct, frozen=True, rename="camel"):
    """One namespace of the KV configuration."""

    table: dict[str, str]


class BrokerMemberGroup(msgspec.Struct, frozen=True, rename="camel"):
    """The members of one broker group."""

    broker_addrs: dict[int, str]
    broker_name: str | UnsetType
    cluster: str | UnsetType


class BrokerMemberGroupBody(msgspec.Struct, frozen=True, rename="camel"):
    """The answer to GET_BROKER_MEMBER_GROUP."""

    broker_member_group: BrokerMemberGroup


_data_version = msgspec.json.Decoder(DataVersion)
_topic_queues = msgspec.json.Decoder(_TopicQueues)


def decode_data_version(body: bytes) -> DataVersion:
    """The body of QUERY_DATA_VERSION."""
    return dialect.decode(_data_version, body, "DataVersion")


def decode_topic_queues(body: bytes) -> list[QueueData]:
    """The part of a TopicRouteData that REGISTER_TOPIC_IN_NAMESRV is about."""
    queues = dialect.decode(_topic_queues, body, "TopicRouteData").queue_datas
    return [entry for entry in queues or () if entry is not None]


def standard_json(value: Any) -> bytes:
    """Standard JSON: what clients from 4.9.4 on are given for routes."""
    return msgspec.json.encode(value)


def legacy_json(value: Any) -> bytes:
    """The old dialect, in which Java name servers write every other body."""
    return dialect.encode(value)


def present(value: T | None) -> T | UnsetType:
    """None as a field that is left out."""
    return UNSET if value is None else value


def by_key(table: Mapping[K, V]) -> dict[K, V]:
    """A table in the order in which Java peers write it."""
    return dict(sorted(table.items()))
