"""The application, and its port."""

import asyncio
import functools
import logging
import socket
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from signpost_namesrv import logs

from . import (
    brokers,
    changes,
    clusters,
    health,
    kv,
    metrics,
    nsaddr,
    peers,
    snapshot,
    status,
    topics,
    watch,
    writing,
)
from .auth import TOKENS, Tokens, follow_tokens
from .background import background
from .console import add_console
from .context import CONTEXT, Context
from .counting import HTTP_STATS, HttpStats, counted, measure_lag
from .endpoint import Endpoint
from .feed import FEED, Feed, close_feed
from .guard import GUARDS, Guard, Guards, guarded, sweep
from .headers import add_headers, problems
from .metrics import METRICS, Metrics
from .openapi import add_openapi, openapi
from .peerwatch import PEERS, PeerWatch, peer_session, watch_peers
from .snapshot import SNAPSHOTS, Snapshots

log = logs.get("http")

ENDPOINTS: tuple[Endpoint[Any, Any], ...] = (
    *status.ENDPOINTS,
    *topics.ENDPOINTS,
    *clusters.ENDPOINTS,
    *brokers.ENDPOINTS,
    *kv.ENDPOINTS,
    *writing.ENDPOINTS,
    *snapshot.ENDPOINTS,
    *changes.ENDPOINTS,
    *watch.ENDPOINTS,
    *peers.ENDPOINTS,
    *health.ENDPOINTS,
    *nsaddr.ENDPOINTS,
    *metrics.ENDPOINTS,
)


def make_app(context: Context) -> web.Application:
    """The application of one name server."""
    options = context.options
    app = web.Application(
        middlewares=[guarded, counted, problems], client_max_size=options.max_body
    )
    app[CONTEXT] = context
    app[GUARDS] = Guards(options)
    app[TOKENS] = Tokens(options.token_file)
    app[HTTP_STATS] = HttpStats()
    app[SNAPSHOTS] = Snapshots()
    app[FEED] = Feed(context)
    app[PEERS] = PeerWatch(context, app[TOKENS])
    app[METRICS] = Metrics(app)
    app.on_response_prepare.append(add_headers)
    app.on_shutdown.append(close_feed)
    app.cleanup_ctx.append(peer_session)
    app.cleanup_ctx.extend(
        background(work) for work in (sweep, follow_tokens, measure_lag, watch_peers)
    )
    for endpoint in ENDPOINTS:
        _add(app, endpoint)
    add_openapi(app, _document())
    add_console(app)
    return app


@functools.cache
def _document() -> bytes:
    return openapi(ENDPOINTS)


def _add(app: web.Application, endpoint: Endpoint[Any, Any]) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        return await endpoint(request)

    if endpoint.method == "GET":
        app.router.add_get(endpoint.path, handle, allow_head=not endpoint.streams)
    else:
        app.router.add_route(endpoint.method, endpoint.path, handle)


class HttpService:
    """Serves one name server on one HTTP port."""

    def __init__(self, context: Context) -> None:
        self._options = context.options
        self._app = make_app(context)
        self._runner: web.AppRunner
        self._server: asyncio.Server

    async def start(self, sock: socket.socket) -> int:
        """Serve on a bound socket; its port."""
        options = self._options
        self._runner = web.AppRunner(
            self._app,
            access_log=None,
            logger=_protocol_logger(),
            handler_cancellation=True,
            keepalive_timeout=options.request_timeout,
            max_line_size=options.max_header,
            max_field_size=options.max_header,
            shutdown_timeout=options.stop_timeout,
        )
        await self._runner.setup()
        inner, guards = self._runner.server, self._app[GUARDS]
        assert inner is not None
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Guard(guards, inner()), sock=sock)
        return int(sock.getsockname()[1])

    async def stop(self) -> None:
        """Accept no more, let requests end, close."""
        self._server.close()
        await self._runner.cleanup()


def _protocol_logger() -> logging.Logger:
    """aiohttp's own complaints, less those about bytes that are no HTTP: anyone can send them."""
    logger = logging.getLogger("signpost.http.protocol")
    logger.addFilter(_is_no_bad_request)
    return logger


def _is_no_bad_request(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, HttpProcessingError)
