"""`/v1/watch`: the change log as server-sent events.

    hello    where the stream begins
    changes  a document of /v1/changes, its id the revision that it leads to
    resync   what the watcher knew is lost: fetch /v1/snapshot, then go on with this stream

A comment goes out when nothing else does. A watcher that cannot keep up with the log is told to
resync and closed; it comes back with the id of that event.
"""

import re

import msgspec
from aiohttp import web
from pydantic import Field

from .context import Context
from .endpoint import Answer, Call, Endpoint, Header
from .feed import FEED, Feed
from .models import Model, Nothing, Revision
from .problems import fault, invalid

_PAGE = 500
_EVENT_ID = re.compile(r"([0-9A-Za-z-]{1,64}):([0-9]{1,18})")


class WatchParams(Model):
    """From where; nothing: from now on."""

    since: Revision | None = Field(default=None, description="The revision that is known.")
    identity: str | None = Field(
        default=None, max_length=64, description="The life of the server that it was read from."
    )


class _Stream:
    """One watcher."""

    def __init__(self, context: Context, feed: Feed, response: web.StreamResponse) -> None:
        self._context = context
        self._feed = feed
        self._response = response
        self._position = feed.revision

    async def run(self, identity: str | None, since: int | None) -> None:
        """Until the server stops or the watcher is left behind."""
        why = None if since is None else self._feed.lost(identity, since)
        if why is not None:
            await self._resync(why)
        else:
            self._position = self._feed.revision if since is None else since
            await self._event("hello", self._where())
        pace = self._context.pace
        while not self._feed.closing:
            await self._feed.wait(self._position, self._context.options.beat)
            began = pace.clock()
            if why := self._feed.lost(None, self._position):
                await self._resync(why)
                return
            if self._feed.revision > self._position:
                self._position, document = self._feed.page(self._position, _PAGE)
                ended = pace.clock()
                await self._event("changes", document)
                await pace.rest(began, ended)
            else:
                await self._response.write(b": %d\n\n" % self._context.state.now_ms())

    async def _resync(self, why: str) -> None:
        self._feed.resyncs += 1
        self._position = self._feed.revision
        await self._event("resync", self._where(reason=why))

    async def _event(self, kind: str, document: bytes) -> None:
        head = f"id: {self._context.identity}:{self._position}\nevent: {kind}\ndata: "
        await self._response.write(b"%b%b\n\n" % (head.encode(), document))

    def _where(self, **more: str) -> bytes:
        tables = self._context.state.tables
        return msgspec.json.encode(
            {
                "identity": self._context.identity,
                "revision": self._position,
                "head": tables.revision,
                "digest": str(tables.digest),
                **more,
            }
        )


async def _watch(call: Call[WatchParams, Nothing]) -> web.StreamResponse:
    identity, since = _from_where(call)
    feed = call.request.app[FEED]
    with feed.seat():
        response = web.StreamResponse(headers={"X-Accel-Buffering": "no"})
        response.content_type = "text/event-stream"
        response.charset = "utf-8"
        await response.prepare(call.request)
        await _Stream(call.context, feed, response).run(identity, since)
        await response.write_eof()
    return response


def _from_where(call: Call[WatchParams, Nothing]) -> tuple[str | None, int | None]:
    """A browser that reconnects says it in the header; it cannot change the query."""
    last = call.request.headers.get("Last-Event-ID")
    if not last:
        return call.params.identity, call.params.since
    found = _EVENT_ID.fullmatch(last)
    if found is None:
        remedy = "send the id of an event as it came, IDENTITY:REVISION"
        raise invalid(400, [fault("header", "Last-Event-ID", last, remedy)])
    return found[1], int(found[2])


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/v1/watch",
        summary="Changes as server-sent events: hello, changes, resync",
        handle=_watch,
        params=WatchParams,
        body=Nothing,
        answers={200: Answer("A stream that ends with the server.", None, "text/event-stream")},
        problems={503: "Too many watchers."},
        headers=(Header("Last-Event-ID", "The id of the last event seen, IDENTITY:REVISION."),),
        streams=True,
    ),
)
