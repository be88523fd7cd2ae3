"""`/v1/peers`: do the name servers of the cluster agree, and where not?"""

from typing import Literal

from aiohttp import web
from pydantic import Field

from .diff import Diff, PeerFailedError, compare
from .endpoint import Answer, Call, Endpoint, reply
from .models import Millis, Model, Name, Nothing
from .peerwatch import PEERS, Peer
from .problems import ProblemError, busy, not_found
from .status import Status, status_of


class PeerItem(Model):
    """One other name server, as it was when it was last asked."""

    name: str = Field(description="host:port, for /v1/peers/NAME/diff.")
    url: str
    state: Literal["agrees", "differs", "disagrees", "not ready", "unreachable"] = Field(
        description="It differs at once, and disagrees when that has lasted for longer than a beat."
    )
    error: str | None = Field(description="Why it could not be reached.")
    checked_ms: Millis
    identity: str | None
    revision: int | None
    digest: str | None
    kv_digest: str | None
    ready: bool | None
    remoting: str | None
    clock_ms: int | None = Field(description="Its clock less ours, roughly.")
    routes_differ: bool
    kv_differ: bool
    differs_since_ms: Millis | None


class Peers(Model):
    """All name servers that this one knows."""

    configured: bool = Field(description="Whether peerUrls or peerService is set.")
    agree: bool = Field(description="No peer disagrees.")
    disagree_after_ms: int
    self: Status
    peers: list[PeerItem]


class PeerParams(Model):
    """Which peer."""

    peer: Name = Field(description="host:port, as in /v1/peers.")


def _item(peer: Peer) -> PeerItem:
    status = peer.status
    return PeerItem.model_validate(
        {
            "name": peer.name,
            "url": peer.url,
            "state": peer.state,
            "error": peer.error,
            "checked_ms": peer.checked_ms,
            "identity": status and status.identity,
            "revision": status and status.revision,
            "digest": status and status.digest,
            "kv_digest": status and status.kv_digest,
            "ready": status and status.ready,
            "remoting": status and status.remoting,
            "clock_ms": status and status.time_ms - peer.checked_ms,
            "routes_differ": peer.routes_differ,
            "kv_differ": peer.kv_differ,
            "differs_since_ms": peer.differs_since_ms,
        }
    )


async def _peers(call: Call[Nothing, Nothing]) -> web.StreamResponse:
    watch = call.request.app[PEERS]
    peers = watch.peers
    return reply(
        Peers(
            configured=watch.configured,
            agree=not any(peer.disagrees for peer in peers),
            disagree_after_ms=round(call.context.options.peers.disagree_after * 1000),
            self=status_of(call.context, call.request),
            peers=[_item(peer) for peer in peers],
        )
    )


async def _diff(call: Call[PeerParams, Nothing]) -> web.StreamResponse:
    watch = call.request.app[PEERS]
    peer = next((peer for peer in watch.peers if peer.name == call.params.peer), None)
    if peer is None:
        raise not_found("peer", "peer", call.params.peer, "GET /v1/peers lists those that are")
    limit = call.context.options.max_diffs
    if watch.comparing >= limit:
        raise busy("comparisons under way", limit)
    watch.comparing += 1
    try:
        return reply(await compare(call.context, peer.url, watch.session, watch.headers()))
    except PeerFailedError as e:
        raise ProblemError(502, "peer-failed", f"{peer.name}: {e}") from e
    finally:
        watch.comparing -= 1


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/v1/peers",
        summary="The other name servers, and whether they agree with this one",
        handle=_peers,
        params=Nothing,
        body=Nothing,
        answers={200: Answer("All that are known.", Peers)},
    ),
    Endpoint(
        method="GET",
        path="/v1/peers/{peer}/diff",
        summary="Where another name server knows something else",
        handle=_diff,
        params=PeerParams,
        body=Nothing,
        answers={200: Answer("The differences.", Diff)},
        problems={
            404: "There is no such peer.",
            502: "The peer's snapshot could not be read.",
            503: "Other comparisons are under way.",
        },
    ),
)
