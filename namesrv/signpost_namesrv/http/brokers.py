"""`/v1/brokers`: who is there, since when, how it is connected."""

from itertools import islice
from typing import Literal

from aiohttp import web
from pydantic import Field

from signpost_namesrv.routes.model import PERM_READ, PERM_WRITE, BrokerKey, Group

from .context import Context
from .endpoint import JSON, Answer, Call, Endpoint, reply
from .models import AnyLong, Millis, Model, Name, Nothing
from .problems import not_found

SLICE = 25
TOPIC_SLICE = 4000


class Connected(Model):
    """How a broker's heartbeats come."""

    via: Literal["remoting", "http"]
    peer: str | None = Field(description="ip:port of the connection; null over HTTP.")
    tls: bool
    certificate_names: list[str] = Field(description="In the certificate that it showed.")


class Version(Model):
    """The version of a broker's topic table."""

    state_version: AnyLong
    timestamp: AnyLong
    counter: AnyLong


class Life(Model):
    """What is known of one broker's life."""

    last_heartbeat_ms: Millis
    age_ms: int = Field(description="Since the last heartbeat, by this server's clock.")
    timeout_ms: int = Field(description="Silent for longer than this, it is removed.")
    data_version: Version
    ha_address: str | None
    filter_servers: list[str]
    connected: Connected | None = Field(description="null: its connection has just gone.")


class Member(Model):
    """One broker of a group."""

    id: int = Field(description="brokerId; 0 is the master.")
    address: str
    life: Life | None = Field(description="null: no heartbeat is known from this address.")


class BrokerGroup(Model):
    """The brokers of one name."""

    name: str
    cluster: str
    zone: str | None
    acting_master: bool
    members: list[Member] = Field(description="By id.")


class Brokers(Model):
    """All broker groups, in the order of their names."""

    revision: int
    time_ms: Millis
    brokers: list[BrokerGroup]


class BrokersParams(Model):
    """Which brokers."""

    cluster: str = Field(default="", max_length=1024, description="Of this cluster only.")


class BrokerParams(Model):
    """Which broker group."""

    name: Name


class TopicCounts(Model):
    """How many topics a broker group holds."""

    total: int
    readable: int
    writable: int


class BrokerDetail(BrokerGroup):
    """One broker group, and how much it holds."""

    revision: int
    time_ms: Millis
    topics: TopicCounts


def group_fields(context: Context, group: Group, now: int) -> dict[str, object]:
    """A broker group, as the fields of its model."""
    return {
        "name": group.name,
        "cluster": group.cluster,
        "zone": group.zone,
        "acting_master": group.acting_master,
        "members": [
            Member(id=i, address=address, life=_life(context, group.cluster, address, now))
            for i, address in sorted(group.addresses.items())
        ],
    }


def _life(context: Context, cluster: str, address: str, now: int) -> Life | None:
    tables = context.state.tables
    key = BrokerKey(cluster, address)
    live = tables.live.get(key)
    if live is None:
        return None
    version, how = live.data_version, connection_fields(context, live.connection)
    return Life(
        last_heartbeat_ms=live.last_update_ms,
        age_ms=max(0, now - live.last_update_ms),
        timeout_ms=live.timeout_ms,
        data_version=Version(
            state_version=version.state_version,
            timestamp=version.timestamp,
            counter=version.counter,
        ),
        ha_address=live.ha_address,
        filter_servers=list(tables.filters.get(key, ())),
        connected=None if how is None else Connected.model_validate(how),
    )


def connection_fields(context: Context, connection: object) -> dict[str, object] | None:
    """How a broker with this connection is connected, as the fields of Connected."""
    if connection is None:
        return {"via": "http", "peer": None, "tls": False, "certificate_names": []}
    link = context.remoting.link(connection)
    if link is None:
        return None
    return {
        "via": "remoting",
        "peer": link.address,
        "tls": link.tls,
        "certificate_names": list(link.names),
    }


async def _list(call: Call[BrokersParams, Nothing]) -> web.StreamResponse:
    """Thousands of brokers are written in slices, so that none of them holds up the loop."""
    context, cluster = call.context, call.params.cluster
    tables, now = context.state.tables, context.state.now_ms()
    head = Brokers(revision=tables.revision, time_ms=now, brokers=[])
    groups = iter(
        [g for _, g in sorted(tables.groups.items()) if not cluster or g.cluster == cluster]
    )
    pace, parts = context.pace, list[str]()
    began = pace.clock()
    while part := list(islice(groups, SLICE)):
        models = [BrokerGroup.model_validate(group_fields(context, g, now)) for g in part]
        parts += [model.model_dump_json() for model in models]
        began = await pace.rest(began)
    before, _, after = head.model_dump_json().rpartition("[]")
    return web.Response(body=f"{before}[{','.join(parts)}]{after}".encode(), content_type=JSON)


async def _one(call: Call[BrokerParams, Nothing]) -> web.StreamResponse:
    context, name = call.context, call.params.name
    tables, now = context.state.tables, context.state.now_ms()
    group = tables.groups.get(name)
    if group is None:
        raise not_found("broker", "name", name, "GET /v1/brokers lists those that are")
    revision = tables.revision
    return reply(
        BrokerDetail.model_validate(
            {
                **group_fields(context, group, now),
                "revision": revision,
                "time_ms": now,
                "topics": await _count_topics(context, name),
            }
        )
    )


async def _count_topics(context: Context, broker: str) -> TopicCounts:
    perms: list[int] = []
    entries = iter(dict(context.state.tables.topics).values())
    pace = context.pace
    began = pace.clock()
    while part := list(islice(entries, TOPIC_SLICE)):
        perms += [q.perm for queues in part for q in queues if q.broker == broker]
        began = await pace.rest(began)
    return TopicCounts(
        total=len(perms),
        readable=sum(1 for perm in perms if perm & PERM_READ),
        writable=sum(1 for perm in perms if perm & PERM_WRITE),
    )


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/v1/brokers",
        summary="Broker groups with addresses, heartbeats and connections",
        handle=_list,
        params=BrokersParams,
        body=Nothing,
        answers={200: Answer("All broker groups.", Brokers)},
    ),
    Endpoint(
        method="GET",
        path="/v1/brokers/{name}",
        summary="One broker group, and how many topics it holds",
        handle=_one,
        params=BrokerParams,
        body=Nothing,
        answers={200: Answer("The broker group.", BrokerDetail)},
        problems={404: "No broker has this name."},
    ),
)
