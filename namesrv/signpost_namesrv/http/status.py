"""`/v1/status`: one name server in a few numbers, cheap enough to be asked every second."""

from aiohttp import web
from pydantic import Field

from .context import Context
from .endpoint import Answer, Call, Endpoint, reply
from .models import Millis, Model, Nothing


class Counts(Model):
    """How much there is."""

    topics: int
    broker_groups: int
    brokers: int = Field(description="Brokers alive, masters and slaves.")
    clusters: int
    connections: int = Field(description="Peers on the remoting port.")


class Status(Model):
    """What a name server says of itself."""

    identity: str = Field(description="Of this life of the server; a restart changes it.")
    revision: int = Field(description="How many changes there were in this life.")
    oldest_revision: int = Field(description="The oldest R that /v1/changes?since=R knows.")
    digest: str = Field(description="Equal on two servers exactly when their routes are.")
    kv_digest: str = Field(description="The same for the KV configuration.")
    ready: bool
    reason: str | None = Field(description="Why it is not ready.")
    time_ms: Millis
    started_ms: Millis
    remoting: str = Field(description="ip:port for clients, as seen from whoever asked.")
    counts: Counts


def status_of(context: Context, request: web.Request) -> Status:
    """The status now."""
    tables = context.state.tables
    reason = context.state.not_ready()
    return Status(
        identity=context.identity,
        revision=tables.revision,
        oldest_revision=tables.log.oldest_known,
        digest=str(tables.digest),
        kv_digest=context.kv.digest(),
        ready=reason is None,
        reason=reason,
        time_ms=context.state.now_ms(),
        started_ms=context.started_ms,
        remoting=own_address(context, request),
        counts=Counts(
            topics=len(tables.topics),
            broker_groups=len(tables.groups),
            brokers=len(tables.live),
            clusters=len(tables.clusters),
            connections=context.remoting.connections,
        ),
    )


def own_address(context: Context, request: web.Request) -> str:
    """Where clients find the remoting port.

    Unless it is set, the address at which this very request arrived: in a pod that is the
    pod's own, however many interfaces and whatever Service there is in front of it.
    """
    host = context.options.advertise_address
    if not host:
        local = request.get_extra_info("sockname")
        host = local[0] if local else "127.0.0.1"
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return f"{host}:{context.options.remoting_port}"


async def _status(call: Call[Nothing, Nothing]) -> web.StreamResponse:
    return reply(status_of(call.context, call.request))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/v1/status",
        summary="Identity, revision, digests, readiness and counts of this name server",
        handle=_status,
        params=Nothing,
        body=Nothing,
        answers={200: Answer("What the server says of itself.", Status)},
    ),
)
