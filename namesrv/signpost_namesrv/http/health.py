"""`/healthz` and `/readyz`, for probes."""

from aiohttp import web
from pydantic import Field

from .auth import Access
from .endpoint import Answer, Call, Endpoint, reply
from .models import Model, Nothing


class Health(Model):
    """Alive: the event loop turns, or there would be no answer."""

    alive: bool = True


class Readiness(Model):
    """Whether clients should come here."""

    ready: bool
    reason: str | None = Field(description="Why not.")


async def _healthz(call: Call[Nothing, Nothing]) -> web.StreamResponse:
    return reply(Health())


async def _readyz(call: Call[Nothing, Nothing]) -> web.StreamResponse:
    reason = call.context.state.not_ready()
    return reply(Readiness(ready=reason is None, reason=reason), 200 if reason is None else 503)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/healthz",
        summary="Whether the event loop turns",
        handle=_healthz,
        params=Nothing,
        body=Nothing,
        answers={200: Answer("It does.", Health)},
        access=Access.OPEN,
    ),
    Endpoint(
        method="GET",
        path="/readyz",
        summary="Whether the server is warm and not about to stop",
        handle=_readyz,
        params=Nothing,
        body=Nothing,
        answers={
            200: Answer("Ready.", Readiness),
            503: Answer("Not ready, and why.", Readiness),
        },
        access=Access.OPEN,
    ),
)
