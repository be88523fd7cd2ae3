"""KV configuration and the server's own settings."""

from collections.abc import Coroutine
from typing import Any

from signpost_namesrv.wire.bodies import KvTable, by_key, standard_json
from signpost_namesrv.wire.codes import ResponseCode
from signpost_namesrv.wire.command import Command

from .replies import answer, ok
from .state import ConfigRefusedError, Peer, PortError, State

Waiting = Coroutine[Any, Any, Command]


async def put_kv(state: State, request: Command, peer: Peer) -> Command:
    """PUT_KV_CONFIG."""
    namespace, key = request.field("namespace"), request.field("key")
    if namespace is None or key is None:
        return answer(request, ResponseCode.SYSTEM_ERROR, "namespace or key is null")
    try:
        await state.kv.put(namespace, key, request.field("value"))
    except PortError as e:
        return answer(request, ResponseCode.SYSTEM_ERROR, str(e))
    return ok(request)


async def delete_kv(state: State, request: Command, peer: Peer) -> Command:
    """DELETE_KV_CONFIG."""
    namespace, key = request.field("namespace"), request.field("key")
    if namespace is not None and key is not None:
        try:
            await state.kv.delete(namespace, key)
        except PortError as e:
            return answer(request, ResponseCode.SYSTEM_ERROR, str(e))
    return ok(request)


def get_kv(state: State, request: Command, peer: Peer) -> Command:
    """GET_KV_CONFIG."""
    namespace, key = request.field("namespace"), request.field("key")
    value = None
    if namespace is not None and key is not None:
        value = state.kv.get(namespace, key)
    if value is None:
        remark = f"No config item, Namespace: {_shown(namespace)} Key: {_shown(key)}"
        return answer(request, ResponseCode.QUERY_NOT_FOUND, remark, fields={})
    return ok(request, {"value": value})


def kv_namespace(state: State, request: Command, peer: Peer) -> Command:
    """GET_KVLIST_BY_NAMESPACE."""
    namespace = request.field("namespace")
    table = None if namespace is None else state.kv.namespace(namespace)
    if table is None:
        remark = f"No config item, Namespace: {_shown(namespace)}"
        return answer(request, ResponseCode.QUERY_NOT_FOUND, remark)
    return ok(request, body=standard_json(KvTable(by_key(table))))


def get_config(state: State, request: Command, peer: Peer) -> Command:
    """GET_NAMESRV_CONFIG."""
    return ok(request, body=state.config.text().encode())


def update_config(state: State, request: Command, peer: Peer) -> Command:
    """UPDATE_NAMESRV_CONFIG."""
    if request.body:
        try:
            state.config.update(request.body.decode())
        except UnicodeDecodeError as e:
            return answer(request, ResponseCode.SYSTEM_ERROR, f"body is no UTF-8: {e.reason}")
        except ConfigRefusedError as e:
            return answer(request, ResponseCode.NO_PERMISSION, str(e))
    return ok(request)


def _shown(value: str | None) -> str:
    return "null" if value is None else value
