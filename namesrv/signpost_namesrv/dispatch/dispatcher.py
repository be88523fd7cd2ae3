"""Request code to handler, with the checks that come before any handler."""

from collections.abc import Callable, Coroutine, Generator
from typing import Any

from signpost_namesrv import logs
from signpost_namesrv.wire.codes import RequestCode, ResponseCode
from signpost_namesrv.wire.command import Command
from signpost_namesrv.wire.errors import BodyError

from . import brokers, config, topics
from .replies import BadRequestError, answer
from .state import Peer, State

log = logs.get("dispatch")

Work = Generator[None, None, Command]
Waiting = Coroutine[Any, Any, Command]
Outcome = Command | Work | Waiting
"""An answer; or work on the tables, to be run alone and in order; or a wait for the disk."""

Handler = Callable[[State, Command, Peer], Outcome]

HANDLERS: dict[int, Handler] = {
    RequestCode.PUT_KV_CONFIG: config.put_kv,
    RequestCode.GET_KV_CONFIG: config.get_kv,
    RequestCode.DELETE_KV_CONFIG: config.delete_kv,
    RequestCode.REGISTER_BROKER: brokers.register,
    RequestCode.UNREGISTER_BROKER: brokers.unregister,
    RequestCode.GET_ROUTEINFO_BY_TOPIC: topics.route,
    RequestCode.GET_BROKER_CLUSTER_INFO: topics.cluster_info,
    RequestCode.WIPE_WRITE_PERM_OF_BROKER: topics.wipe_write_perm,
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: topics.all_topics,
    RequestCode.DELETE_TOPIC_IN_NAMESRV: topics.delete_topic,
    RequestCode.REGISTER_TOPIC_IN_NAMESRV: topics.register_topic,
    RequestCode.GET_KVLIST_BY_NAMESPACE: config.kv_namespace,
    RequestCode.GET_TOPICS_BY_CLUSTER: topics.topics_by_cluster,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS: topics.system_topics,
    RequestCode.GET_UNIT_TOPIC_LIST: topics.unit_topics,
    RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST: topics.unit_sub_topics,
    RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST: topics.unit_sub_ununit_topics,
    RequestCode.UPDATE_NAMESRV_CONFIG: config.update_config,
    RequestCode.GET_NAMESRV_CONFIG: config.get_config,
    RequestCode.QUERY_DATA_VERSION: brokers.query_data_version,
    RequestCode.ADD_WRITE_PERM_OF_BROKER: topics.add_write_perm,
    RequestCode.GET_BROKER_MEMBER_GROUP: brokers.member_group,
    RequestCode.BROKER_HEARTBEAT: brokers.heartbeat,
}

ADMINISTRATIVE = frozenset(
    {
        RequestCode.PUT_KV_CONFIG,
        RequestCode.DELETE_KV_CONFIG,
        RequestCode.WIPE_WRITE_PERM_OF_BROKER,
        RequestCode.ADD_WRITE_PERM_OF_BROKER,
        RequestCode.DELETE_TOPIC_IN_NAMESRV,
        RequestCode.UPDATE_NAMESRV_CONFIG,
        RequestCode.GET_NAMESRV_CONFIG,
    }
)
"""What can be limited to certain peers. Brokers need none of these."""

_DECISIONS = ADMINISTRATIVE - {RequestCode.GET_NAMESRV_CONFIG}


def dispatch(state: State, request: Command, peer: Peer) -> Outcome:
    """Hand a request to its handler."""
    handler = HANDLERS.get(request.code)
    if handler is None:
        remark = f" request type {request.code} not supported"
        return answer(request, ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark)
    if request.code in ADMINISTRATIVE and not state.access.allows(peer):
        name = RequestCode(request.code).name
        remark = f"{name} is limited to administrators, and {peer.address} is none of them"
        log.warning("administrative request refused", request=name, peer=peer.address)
        return answer(request, ResponseCode.NO_PERMISSION, remark)
    if request.code in _DECISIONS:
        log.info(
            "administrative request",
            request=RequestCode(request.code).name,
            peer=peer.address,
            fields={name: value[:200] for name, value in (request.fields or {}).items()},
        )
    try:
        outcome = handler(state, request, peer)
    except (BadRequestError, BodyError) as e:
        return refused(request, e)
    return _guarded(request, outcome) if isinstance(outcome, Generator) else outcome


def refused(request: Command, error: Exception) -> Command:
    """The answer to a request that could not be read."""
    name = RequestCode(request.code).name
    return answer(request, ResponseCode.SYSTEM_ERROR, f"{name}: {error}")


def _guarded(request: Command, work: Work) -> Work:
    try:
        return (yield from work)
    except (BadRequestError, BodyError) as e:
        return refused(request, e)
