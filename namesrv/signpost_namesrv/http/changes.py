"""`/v1/changes`: what happened after a revision, at once or when it happens."""

from typing import Annotated, Literal

from aiohttp import web
from pydantic import Field

from .endpoint import JSON, Answer, Call, Endpoint
from .feed import FEED
from .models import Millis, Model, Nothing, Revision
from .problems import ProblemError, fault
from .snapshot import GroupItem, MappingItem, QueuesItem

MAX_PAGE = 1000


class _Change(Model):
    revision: int
    time_ms: Millis


class QueuesChange(_Change):
    """A topic's queues on one broker are now these, or gone."""

    kind: Literal["queues"]
    topic: str
    broker: str
    queues: QueuesItem | None


class GroupChange(_Change):
    """A broker group is now this, or gone."""

    kind: Literal["group"]
    broker: str
    group: GroupItem | None


class MemberChange(_Change):
    """A broker name joined or left a cluster."""

    kind: Literal["member"]
    cluster: str
    broker: str
    present: bool


class MappingChange(_Change):
    """A static topic's mapping on one broker is now this, or gone."""

    kind: Literal["mapping"]
    topic: str
    broker: str
    mapping: MappingItem | None


class Key(Model):
    """One broker."""

    cluster: str
    address: str


class FiltersChange(_Change):
    """A broker's filter servers are now these, or gone."""

    kind: Literal["filters"]
    key: Key
    servers: list[str] | None


Change = Annotated[
    QueuesChange | GroupChange | MemberChange | MappingChange | FiltersChange,
    Field(discriminator="kind"),
]


class Changes(Model):
    """Some changes, oldest first, and where the tables were when they were read."""

    identity: str
    since: int
    revision: int = Field(description="`since` of the next call: that of the last change here.")
    head: int = Field(description="The newest revision; larger than `revision`: there is more.")
    digest: str = Field(description="Of the routes at `head`.")
    kv_digest: str
    ready: bool
    time_ms: Millis
    changes: list[Change]


class ChangesParams(Model):
    """From where, how long to wait, how much at a time."""

    since: Revision = Field(description="The revision that the caller knows.")
    identity: str | None = Field(
        default=None, max_length=64, description="The life of the server that it was read from."
    )
    wait: float = Field(
        default=0, ge=0, le=60, description="Seconds to wait for a change when there is none."
    )
    limit: int = Field(default=500, ge=1, le=MAX_PAGE, description="Changes at a time.")


async def _changes(call: Call[ChangesParams, Nothing]) -> web.StreamResponse:
    feed, params = call.request.app[FEED], call.params
    _check(call)
    if params.wait and feed.revision == params.since:
        with feed.seat():
            await feed.wait(params.since, params.wait)
        _check(call)
    _, document = feed.page(params.since, params.limit)
    return web.Response(body=document, content_type=JSON)


def _check(call: Call[ChangesParams, Nothing]) -> None:
    feed, params = call.request.app[FEED], call.params
    why = feed.lost(params.identity, params.since)
    if why is None:
        return
    remedy = "start over from GET /v1/snapshot"
    headers = {
        "Signpost-Identity": call.context.identity,
        "Signpost-Revision": str(feed.revision),
    }
    mistake = fault("query", "since", params.since, remedy)
    raise ProblemError(410, "revision-lost", f"{why}; {remedy}", [mistake], headers)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/v1/changes",
        summary="What happened after a revision",
        handle=_changes,
        params=ChangesParams,
        body=Nothing,
        answers={200: Answer("The changes; none when none came in time.", Changes)},
        problems={
            410: "The revision has left the log, is not there yet, or is of another life.",
            503: "Too many callers are waiting.",
        },
    ),
)
