"""`/v1/topics`: search, and the route of one topic."""

import heapq
from collections.abc import Iterable, Iterator
from itertools import islice

from aiohttp import web
from pydantic import Field

from signpost_namesrv.dispatch import topics as dispatch
from signpost_namesrv.routes.model import PERM_READ, PERM_WRITE, Queues
from signpost_namesrv.routes.tables import Tables
from signpost_namesrv.wire.bodies import standard_json

from .endpoint import JSON, Answer, Call, Endpoint, reply
from .models import Model, Name, Nothing
from .problems import ProblemError, not_found

SLICE = 2000

Item = tuple[str, tuple[Queues, ...]]


class TopicsParams(Model):
    """Which topics, and which page of them."""

    prefix: str = Field(default="", max_length=1024, description="The start of their names.")
    contains: str = Field(
        default="", max_length=1024, description="A part of their names, in any case."
    )
    cluster: str = Field(default="", max_length=1024, description="On any broker of this cluster.")
    broker: str = Field(default="", max_length=1024, description="On this broker.")
    after: str = Field(
        default="", max_length=1024, description="Names after this one: the last of a page."
    )
    limit: int = Field(default=100, ge=1, le=1000, description="Names on a page.")


class TopicSummary(Model):
    """One topic in a list."""

    topic: str
    brokers: list[str]
    read_queues: int = Field(description="Over all brokers that may be read from.")
    write_queues: int = Field(description="Over all brokers that may be written to.")


class TopicsPage(Model):
    """A page of topics, in the order of their names."""

    revision: int
    matched: int = Field(description="Topics that fit, on all pages.")
    topics: list[TopicSummary]
    next: str | None = Field(description="`after` of the next page; null on the last.")


class RouteParams(Model):
    """Which topic, seen from where."""

    topic: Name
    zone: str = Field(
        default="", max_length=1024, description="Keep the brokers of this zone, and orphans."
    )


class Broker(Model):
    """A broker group in a route."""

    broker_addrs: dict[str, str] = Field(alias="brokerAddrs", description="By brokerId.")
    broker_name: str = Field(alias="brokerName")
    cluster: str
    enable_acting_master: bool = Field(alias="enableActingMaster")
    zone_name: str | None = Field(default=None, alias="zoneName")


class Queue(Model):
    """A topic's queues on one broker group."""

    broker_name: str = Field(alias="brokerName")
    perm: int = Field(description="Bits: 4 read, 2 write, 1 inherit.")
    read_queue_nums: int = Field(alias="readQueueNums")
    topic_sys_flag: int = Field(alias="topicSysFlag")
    write_queue_nums: int = Field(alias="writeQueueNums")


class TopicRoute(Model):
    """A route as RocketMQ's clients get it (request 105), in standard JSON."""

    broker_datas: list[Broker] = Field(alias="brokerDatas")
    filter_server_table: dict[str, list[str]] = Field(alias="filterServerTable")
    queue_datas: list[Queue] = Field(alias="queueDatas")
    order_topic_conf: str | None = Field(default=None, alias="orderTopicConf")
    topic_queue_mapping_by_broker: dict[str, dict[str, object]] | None = Field(
        default=None, alias="topicQueueMappingByBroker"
    )


async def _list(call: Call[TopicsParams, Nothing]) -> web.StreamResponse:
    tables, params = call.context.state.tables, call.params
    revision = tables.revision
    wanted = _Filter(tables, params)
    pace, matched = call.context.pace, 0
    first: list[Item] = []
    items = iter(dict(tables.topics).items())
    began = pace.clock()
    while part := list(islice(items, SLICE)):
        fitting = list(wanted.of(part))
        matched += len(fitting)
        later = [item for item in fitting if item[0] > params.after]
        first = heapq.nsmallest(params.limit + 1, [*first, *later])
        began = await pace.rest(began)
    page = first[: params.limit]
    return reply(
        TopicsPage(
            revision=revision,
            matched=matched,
            topics=[_summary(*item) for item in page],
            next=page[-1][0] if len(first) > len(page) else None,
        )
    )


class _Filter:
    def __init__(self, tables: Tables, params: TopicsParams) -> None:
        self._prefix = params.prefix
        self._part = params.contains.casefold()
        self._brokers: frozenset[str] | None = None
        if params.cluster:
            self._brokers = tables.clusters.get(params.cluster, frozenset())
        if params.broker:
            named = frozenset({params.broker})
            self._brokers = named if self._brokers is None else self._brokers & named

    def of(self, items: Iterable[Item]) -> Iterator[Item]:
        brokers = self._brokers
        for item in items:
            topic, queues = item
            if (
                topic.startswith(self._prefix)
                and (not self._part or self._part in topic.casefold())
                and (brokers is None or any(q.broker in brokers for q in queues))
            ):
                yield item


def _summary(topic: str, queues: tuple[Queues, ...]) -> TopicSummary:
    return TopicSummary(
        topic=topic,
        brokers=[q.broker for q in queues],
        read_queues=sum(q.read for q in queues if q.perm & PERM_READ),
        write_queues=sum(q.write for q in queues if q.perm & PERM_WRITE),
    )


async def _route(call: Call[RouteParams, Nothing]) -> web.StreamResponse:
    state, params = call.context.state, call.params
    if not state.warmup.done(state.tables, state.now_ms()):
        raise ProblemError(
            503, "not-ready", state.not_ready() or "warming up", headers={"Retry-After": "1"}
        )
    found = dispatch.find_route(state, params.topic, params.zone)
    if found is None:
        raise not_found("topic", "topic", params.topic, "GET /v1/topics lists those that are")
    return web.Response(body=standard_json(found), content_type=JSON)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/v1/topics",
        summary="Topics by prefix, part of the name, cluster or broker, page by page",
        handle=_list,
        params=TopicsParams,
        body=Nothing,
        answers={200: Answer("A page of topics.", TopicsPage)},
    ),
    Endpoint(
        method="GET",
        path="/v1/topics/{topic}/route",
        summary="The route of a topic, as clients get it",
        handle=_route,
        params=RouteParams,
        body=Nothing,
        answers={200: Answer("The route.", TopicRoute)},
        problems={404: "No broker has the topic.", 503: "The server is still warming up."},
    ),
)
