"""What clients and administrators ask about topics and clusters."""

from collections.abc import Generator

from msgspec import UNSET

from signpost_namesrv.routes import lookup, topics
from signpost_namesrv.wire.bodies import (
    ClusterInfo,
    TopicList,
    TopicRouteData,
    decode_topic_queues,
    legacy_json,
    present,
    standard_json,
)
from signpost_namesrv.wire.codes import V4_9_4, ResponseCode
from signpost_namesrv.wire.command import Command

from .convert import group_body, queues_from
from .replies import answer, flag, ok
from .state import ORDER_NAMESPACE, Peer, State

Work = Generator[None, None, Command]

_FAQ = "See https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."


def route(state: State, request: Command, peer: Peer) -> Command:
    """GET_ROUTEINFO_BY_TOPIC."""
    if not state.warmup.done(state.tables, state.now_ms()):
        return answer(request, ResponseCode.SYSTEM_ERROR, "name server not ready")
    topic = request.field("topic")
    zone = (request.field("__ZONE_NAME") or "") if flag(request, "__ZONE_MODE") else ""
    zone = zone if zone.strip() else ""
    found = None if topic is None else find_route(state, topic, zone)
    if found is None:
        shown = "null" if topic is None else topic
        remark = f"No topic route info in name server for the topic: {shown}\n{_FAQ}"
        return answer(request, ResponseCode.TOPIC_NOT_EXIST, remark)
    standard = request.version >= V4_9_4 or flag(request, "acceptStandardJsonOnly")
    # Stock servers filter a finished answer by zone and write it again in the old dialect.
    encode = standard_json if standard and not zone else legacy_json
    return ok(request, body=encode(found))


def find_route(state: State, topic: str, zone: str = "") -> TopicRouteData | None:
    """A topic's route, of one zone's brokers if one is given; None when no broker has it."""
    found = lookup.route(state.tables, state.policy, topic)
    if found is None:
        return None
    order_conf = state.kv.get(ORDER_NAMESPACE, topic) if state.reads.order_message else None
    return state.bodies.route(lookup.in_zone(found, zone) if zone else found, order_conf)


def cluster_info(state: State, request: Command, peer: Peer) -> Command:
    """GET_BROKER_CLUSTER_INFO."""
    info = ClusterInfo(
        broker_addr_table={n: group_body(g) for n, g in state.tables.groups.items()},
        cluster_addr_table={c: sorted(names) for c, names in state.tables.clusters.items()},
    )
    return ok(request, body=legacy_json(info))


def all_topics(state: State, request: Command, peer: Peer) -> Command:
    """GET_ALL_TOPIC_LIST_FROM_NAMESERVER."""
    if not state.reads.all_topic_list:
        return answer(request, ResponseCode.SYSTEM_ERROR, "disable")
    return _topic_list(request, list(state.tables.topics))


def topics_by_cluster(state: State, request: Command, peer: Peer) -> Command:
    """GET_TOPICS_BY_CLUSTER."""
    if not state.reads.topic_list:
        return answer(request, ResponseCode.SYSTEM_ERROR, "disable")
    cluster = request.field("cluster") or ""
    return _topic_list(request, lookup.topics_of_cluster(state.tables, cluster))


def system_topics(state: State, request: Command, peer: Peer) -> Command:
    """GET_SYSTEM_TOPIC_LIST_FROM_NS: names of clusters and brokers, and any one address."""
    names: list[str] = []
    for cluster, members in state.tables.clusters.items():
        names += (cluster, *sorted(members))
    groups = (group for group in state.tables.groups.values() if group.addresses)
    address = next((group.addresses[min(group.addresses)] for group in groups), None)
    return ok(request, body=standard_json(TopicList(present(address), list(dict.fromkeys(names)))))


def unit_topics(state: State, request: Command, peer: Peer) -> Command:
    """GET_UNIT_TOPIC_LIST."""
    return _flagged(state, request, lookup.UNIT_FLAG)


def unit_sub_topics(state: State, request: Command, peer: Peer) -> Command:
    """GET_HAS_UNIT_SUB_TOPIC_LIST."""
    return _flagged(state, request, lookup.UNIT_SUB_FLAG)


def unit_sub_ununit_topics(state: State, request: Command, peer: Peer) -> Command:
    """GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST."""
    return _flagged(state, request, lookup.UNIT_SUB_FLAG, lookup.UNIT_FLAG)


def _flagged(state: State, request: Command, present: int, absent: int = 0) -> Command:
    if not state.reads.topic_list:
        return answer(request, ResponseCode.SYSTEM_ERROR, "disable")
    return _topic_list(request, lookup.topics_by_flag(state.tables, present, absent))


def _topic_list(request: Command, names: list[str]) -> Command:
    return ok(request, body=standard_json(TopicList(UNSET, names)))


def delete_topic(state: State, request: Command, peer: Peer) -> Work:
    """DELETE_TOPIC_IN_NAMESRV."""
    yield from ()
    topic = request.field("topic") or ""
    topics.delete_topic(state.tables, topic, request.field("clusterName"), state.now_ms())
    return ok(request)


def register_topic(state: State, request: Command, peer: Peer) -> Work:
    """REGISTER_TOPIC_IN_NAMESRV; with an unknown broker in it, nothing happens."""
    yield from ()
    topic = request.field("topic")
    if request.body and topic is not None:
        entries = [queues_from(q) for q in decode_topic_queues(request.body)]
        topics.register_topic(state.tables, topic, entries, state.now_ms())
    return ok(request)


def wipe_write_perm(state: State, request: Command, peer: Peer) -> Work:
    """WIPE_WRITE_PERM_OF_BROKER."""
    broker = request.field("brokerName") or ""
    count = yield from topics.set_writable(state.tables, broker, False, state.now_ms())
    return ok(request, {"wipeTopicCount": str(count)})


def add_write_perm(state: State, request: Command, peer: Peer) -> Work:
    """ADD_WRITE_PERM_OF_BROKER."""
    broker = request.field("brokerName") or ""
    count = yield from topics.set_writable(state.tables, broker, True, state.now_ms())
    return ok(request, {"addTopicCount": str(count)})
