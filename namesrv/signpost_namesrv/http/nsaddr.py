"""`/rocketmq/nsaddr`: the address server that stock brokers and clients poll."""

from aiohttp import web
from pydantic import Field

from .auth import Access
from .endpoint import Answer, Call, Endpoint
from .models import Model, Nothing
from .peerwatch import PEERS
from .problems import ProblemError
from .status import own_address

_GONE_AFTER = 2
"""Failures in a row after which a peer is left out: one lost answer must not move clients."""


class AddressParams(Model):
    """What stock programs send; it makes no difference."""

    nofix: str = Field(default="", max_length=16)


class UnitParams(AddressParams):
    """The same, for one unit."""

    unit: str = Field(min_length=1, max_length=255)


async def _addresses(
    call: Call[AddressParams, Nothing] | Call[UnitParams, Nothing],
) -> web.StreamResponse:
    ready = {
        peer.status.remoting
        for peer in call.request.app[PEERS].peers
        if peer.status is not None and peer.status.ready and peer.failures < _GONE_AFTER
    }
    if call.context.state.not_ready() is None:
        ready.add(own_address(call.context, call.request))
    if not ready:
        # Never an empty list: somebody might believe it.
        raise ProblemError(
            503, "not-ready", "no name server is ready", headers={"Retry-After": "1"}
        )
    return web.Response(text=";".join(sorted(ready)))


_ANSWERS = {200: Answer("ip:port;ip:port, in a stable order.", None, "text/plain")}
_PROBLEMS = {503: "No name server is ready."}

ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/rocketmq/nsaddr",
        summary="The ready name servers, for stock brokers and clients",
        handle=_addresses,
        params=AddressParams,
        body=Nothing,
        answers=_ANSWERS,
        problems=_PROBLEMS,
        access=Access.OPEN,
        lenient=True,
    ),
    Endpoint(
        method="GET",
        path="/rocketmq/nsaddr-{unit}",
        summary="The same for one unit: all units share the name servers",
        handle=_addresses,
        params=UnitParams,
        body=Nothing,
        answers=_ANSWERS,
        problems=_PROBLEMS,
        access=Access.OPEN,
        lenient=True,
    ),
)
