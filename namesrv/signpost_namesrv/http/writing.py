"""Brokers by HTTP: register with a time to live, beat, leave; and the write permission.

The rules are those of the wire: a broker that is registered here and one that came over the
remoting port differ only in how they stay alive.
"""

from collections.abc import Generator
from typing import Annotated

from aiohttp import web
from pydantic import Field

from signpost_namesrv.dispatch import brokers as dispatch
from signpost_namesrv.routes import topics
from signpost_namesrv.routes.model import (
    DEFAULT_TIMEOUT_MS,
    BrokerKey,
    DataVersion,
    Live,
    Registration,
)
from signpost_namesrv.routes.registration import Registered, heartbeat
from signpost_namesrv.routes.removal import departure_of
from signpost_namesrv.routes.tables import Tables

from .auth import Access
from .brokers import Version
from .endpoint import Answer, Call, Endpoint, reply
from .models import LONG_MAX, Int, Long, Millis, Model, Nothing
from .problems import ProblemError, not_found

MAX_TOPICS = 2000
_Text = Annotated[str, Field(min_length=1, max_length=255)]
_Address = Annotated[str, Field(pattern=r"^[^\s;,/]{1,250}:[0-9]{1,5}$")]


class BrokerParams(Model):
    """Which broker."""

    cluster: _Text
    name: _Text
    id: Long = Field(description="brokerId; 0 is the master.")


class TopicConfig(Model):
    """A topic's queues on the broker that registers."""

    read_queue_nums: Int = Field(default=16, alias="read")
    write_queue_nums: Int = Field(default=16, alias="write")
    perm: Annotated[int, Field(ge=0, le=7, description="Bits: 4 read, 2 write, 1 inherit.")] = 6
    topic_sys_flag: Int = Field(default=0, alias="sys_flag")


class Registering(Model):
    """A broker's account of itself."""

    address: _Address = Field(description="host:port for clients.")
    ttl_ms: int = Field(
        default=DEFAULT_TIMEOUT_MS,
        ge=1000,
        le=86_400_000,
        description="Silent for longer than this, it is removed.",
    )
    topics: dict[_Text, TopicConfig] = Field(
        default={},
        max_length=MAX_TOPICS,
        description="Further calls add more; one that is left out stays, as on the wire.",
    )
    ha_address: _Address | None = Field(default=None, description="Where slaves replicate from.")
    zone: _Text | None = None
    acting_master: bool | None = Field(
        default=None, description="Whether its smallest slave stands in for a lost master."
    )
    data_version: Version | None = Field(
        default=None, description="As on the wire, topics count when it changed; null: always."
    )
    filter_servers: list[_Text] | None = Field(
        default=None, max_length=100, description="null: leave them as they are."
    )


class Enrolled(Model):
    """How a registration ended."""

    revision: int
    first: bool = Field(description="Whether this broker was not known before.")
    expires_ms: Millis = Field(description="When it is removed unless it is heard before.")
    master_address: str | None = Field(description="For a slave: its master's address.")
    ha_address: str | None = Field(description="For a slave: where to replicate from.")


class Beaten(Model):
    """A heartbeat that counted."""

    expires_ms: Millis = Field(description="When it is removed unless it is heard before.")


class GroupParams(Model):
    """Which broker group."""

    name: _Text


class Writable(Model):
    """Whether producers may write."""

    writable: bool


class WritableTopics(Model):
    """How far the change reached."""

    revision: int
    topics: int = Field(description="Topics that the broker group holds.")


async def _put(call: Call[BrokerParams, Registering]) -> web.StreamResponse:
    context = call.context
    done: Registered = await context.run_job(_enrol(call))
    if done.conflict:
        raise ProblemError(
            409,
            "id-taken",
            f"another broker with a newer state_version is {call.params.name} "
            f"{call.params.id}; take another id, or wait until it is gone",
        )
    if not done.accepted:
        raise ProblemError(
            409,
            "single-topic",
            "a broker that is not known yet cannot register exactly one topic (a rule of the "
            "protocol); register it with none first, then again with the topic",
        )
    tables = context.state.tables
    live = tables.live.get(BrokerKey(call.params.cluster, call.body.address))
    return reply(
        Enrolled(
            revision=tables.revision,
            first=done.first,
            expires_ms=context.state.now_ms() if live is None else _expiry(live),
            master_address=done.master_address,
            ha_address=done.ha_address,
        ),
        201 if done.first else 200,
    )


def _enrol(call: Call[BrokerParams, Registering]) -> Generator[None, None, Registered]:
    state, params, body = call.context.state, call.params, call.body
    key = BrokerKey(params.cluster, body.address)
    registration = Registration(
        cluster=params.cluster,
        name=params.name,
        broker_id=params.id,
        address=body.address,
        ha_address=body.ha_address,
        zone=body.zone,
        timeout_ms=body.ttl_ms,
        acting_master=body.acting_master,
        data_version=_version(body.data_version, state.tables, key, state.now_ms()),
        topics=list(body.topics.items()),
        filter_servers=body.filter_servers,
    )
    return (yield from dispatch.enrol(state, registration, call.request.remote or ""))


def _version(given: Version | None, tables: Tables, key: BrokerKey, now: int) -> DataVersion:
    """What was given, or one that differs from the last."""
    if given is not None:
        return DataVersion(given.state_version, given.timestamp, given.counter)
    live = tables.live.get(key)
    last = DataVersion() if live is None else live.data_version
    return DataVersion(last.state_version, now, (last.counter + 1) & LONG_MAX)


async def _heartbeat(call: Call[BrokerParams, Nothing]) -> web.StreamResponse:
    state = call.context.state
    live = _find(call)
    heartbeat(state.tables, live.key, state.now_ms())
    return reply(Beaten(expires_ms=_expiry(live)))


async def _delete(call: Call[BrokerParams, Nothing]) -> web.StreamResponse:
    await call.context.run_job(_remove(call))
    return web.Response(status=204)


def _remove(call: Call[BrokerParams, Nothing]) -> Generator[None, None, None]:
    """Looked up in its turn: the broker that has the id then is the one to go."""
    yield from dispatch.remove(call.context.state, [departure_of(_find(call))], "unregistered")


def _find(call: Call[BrokerParams, Nothing]) -> Live:
    tables, params = call.context.state.tables, call.params
    group = tables.groups.get(params.name)
    address = None if group is None else group.addresses.get(params.id)
    live = tables.live.get(BrokerKey(params.cluster, address)) if address is not None else None
    if live is None:
        shown = f"{params.cluster}/{params.name}/{params.id}"
        raise not_found("broker", "id", shown, "register it with PUT first")
    return live


def _expiry(live: Live) -> int:
    return live.last_update_ms + live.timeout_ms


async def _set_writable(call: Call[GroupParams, Writable]) -> web.StreamResponse:
    state, name = call.context.state, call.params.name
    if name not in state.tables.groups:
        raise not_found("broker", "name", name, "GET /v1/brokers lists those that are")
    change = topics.set_writable(state.tables, name, call.body.writable, state.now_ms())
    count = await call.context.run_job(change)
    return reply(WritableTopics(revision=state.tables.revision, topics=count))


_UNKNOWN = {404: "There is no such broker."}
_BROKER = "/v1/brokers/{cluster}/{name}/{id}"

ENDPOINTS = (
    Endpoint(
        method="PUT",
        path=_BROKER,
        summary="Register a broker and its topics, with a time to live",
        handle=_put,
        params=BrokerParams,
        body=Registering,
        answers={
            200: Answer("It was known and is renewed.", Enrolled),
            201: Answer("It is known now.", Enrolled),
        },
        problems={409: "Another broker has this id, or a first registration with one topic."},
        access=Access.WRITE,
    ),
    Endpoint(
        method="POST",
        path=f"{_BROKER}/heartbeat",
        summary="Renew a broker's time to live",
        handle=_heartbeat,
        params=BrokerParams,
        body=Nothing,
        answers={200: Answer("It lives on.", Beaten)},
        problems=_UNKNOWN,
        access=Access.WRITE,
    ),
    Endpoint(
        method="DELETE",
        path=_BROKER,
        summary="Remove a broker, and what only it held up",
        handle=_delete,
        params=BrokerParams,
        body=Nothing,
        answers={204: Answer("It is gone.")},
        problems=_UNKNOWN,
        access=Access.WRITE,
    ),
    Endpoint(
        method="PUT",
        path="/v1/brokers/{name}/writable",
        summary="Give or take a broker's write permission on all its topics",
        handle=_set_writable,
        params=GroupParams,
        body=Writable,
        answers={200: Answer("Done, until the broker sends other topics.", WritableTopics)},
        problems=_UNKNOWN,
        access=Access.WRITE,
    ),
)
