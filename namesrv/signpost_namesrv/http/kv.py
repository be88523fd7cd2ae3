"""`/v1/kv`: the KV configuration, read and written."""

from aiohttp import web
from pydantic import Field

from signpost_namesrv.dispatch.state import PortError

from .auth import Access
from .endpoint import Answer, Call, Endpoint, reply
from .models import Model, Nothing
from .problems import ProblemError, not_found

_NAME = 4096
_VALUE = 256 * 1024


class Namespaces(Model):
    """The namespaces, with the number of their keys."""

    digest: str
    namespaces: dict[str, int]


class Namespace(Model):
    """All of one namespace."""

    namespace: str
    entries: dict[str, str]


class Entry(Model):
    """One entry."""

    namespace: str
    key: str
    value: str


class NamespaceParams(Model):
    """Which namespace."""

    namespace: str = Field(min_length=1, max_length=_NAME)


class EntryParams(NamespaceParams):
    """Which entry."""

    key: str = Field(min_length=1, max_length=_NAME)


class Value(Model):
    """The value to set."""

    value: str = Field(max_length=_VALUE)


async def _namespaces(call: Call[Nothing, Nothing]) -> web.StreamResponse:
    kv = call.context.kv
    counts = {name: len(entries) for name, entries in sorted(kv.snapshot().items())}
    return reply(Namespaces(digest=kv.digest(), namespaces=counts))


async def _namespace(call: Call[NamespaceParams, Nothing]) -> web.StreamResponse:
    name = call.params.namespace
    entries = call.context.state.kv.namespace(name)
    if entries is None:
        raise not_found("namespace", "namespace", name, "GET /v1/kv lists those that are")
    return reply(Namespace(namespace=name, entries=dict(entries)))


async def _get(call: Call[EntryParams, Nothing]) -> web.StreamResponse:
    namespace, key = call.params.namespace, call.params.key
    return reply(Entry(namespace=namespace, key=key, value=_value(call)))


async def _put(call: Call[EntryParams, Value]) -> web.StreamResponse:
    namespace, key = call.params.namespace, call.params.key
    try:
        await call.context.state.kv.put(namespace, key, call.body.value)
    except PortError as e:
        raise _not_written(e) from e
    return reply(Entry(namespace=namespace, key=key, value=call.body.value))


async def _delete(call: Call[EntryParams, Nothing]) -> web.StreamResponse:
    _value(call)
    try:
        await call.context.state.kv.delete(call.params.namespace, call.params.key)
    except PortError as e:
        raise _not_written(e) from e
    return web.Response(status=204)


def _value(call: Call[EntryParams, Nothing]) -> str:
    namespace, key = call.params.namespace, call.params.key
    value = call.context.state.kv.get(namespace, key)
    if value is None:
        raise not_found("key", "key", key, "GET /v1/kv/NAMESPACE lists those that are")
    return value


def _not_written(error: PortError) -> ProblemError:
    return ProblemError(507, "not-written", str(error))


_UNKNOWN = {404: "There is no such entry."}
_FAILED = {507: "The file could not be written, or would be too large; nothing was changed."}

ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/v1/kv",
        summary="The namespaces of the KV configuration",
        handle=_namespaces,
        params=Nothing,
        body=Nothing,
        answers={200: Answer("The namespaces.", Namespaces)},
    ),
    Endpoint(
        method="GET",
        path="/v1/kv/{namespace}",
        summary="All of one namespace",
        handle=_namespace,
        params=NamespaceParams,
        body=Nothing,
        answers={200: Answer("The namespace.", Namespace)},
        problems={404: "There is no such namespace."},
    ),
    Endpoint(
        method="GET",
        path="/v1/kv/{namespace}/{key}",
        summary="One entry",
        handle=_get,
        params=EntryParams,
        body=Nothing,
        answers={200: Answer("The entry.", Entry)},
        problems=_UNKNOWN,
    ),
    Endpoint(
        method="PUT",
        path="/v1/kv/{namespace}/{key}",
        summary="Set an entry; it is on disk when the answer comes",
        handle=_put,
        params=EntryParams,
        body=Value,
        answers={200: Answer("The entry as it is now.", Entry)},
        problems=_FAILED,
        access=Access.WRITE,
    ),
    Endpoint(
        method="DELETE",
        path="/v1/kv/{namespace}/{key}",
        summary="Remove an entry",
        handle=_delete,
        params=EntryParams,
        body=Nothing,
        answers={204: Answer("It is gone.")},
        problems={**_UNKNOWN, **_FAILED},
        access=Access.WRITE,
    ),
)
