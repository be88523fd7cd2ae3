"""`/metrics`: plain numbers of the server, turned into Prometheus text when asked.

No label grows with topics, clients or unknown input.
"""

from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from signpost_namesrv.dispatch.stats import BUCKETS
from signpost_namesrv.wire.codes import RequestCode, ResponseCode

from .context import CONTEXT, Context
from .counting import HTTP_STATS, LATENCY, HttpStats
from .endpoint import Answer, Call, Endpoint
from .feed import FEED, Feed
from .guard import GUARDS, Guards
from .models import Nothing
from .peerwatch import PEERS, PeerWatch
from .snapshot import SNAPSHOTS, Snapshots

AGES = (10, 30, 60, 120)
"""Seconds; brokers silent for longer than each are counted."""

_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_CODES = {int(code): code.name for code in RequestCode}
_OUTCOMES = {int(code): code.name for code in ResponseCode}
_UNKNOWN = "UNKNOWN"


class Metrics(Collector):
    """Reads everything at the time of the scrape."""

    def __init__(self, app: web.Application) -> None:
        self._context = app[CONTEXT]
        self._http = app[HTTP_STATS]
        self._guards = app[GUARDS]
        self._snapshots = app[SNAPSHOTS]
        self._feed = app[FEED]
        self._peers = app[PEERS]
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(self)
        ProcessCollector(registry=self.registry)

    def text(self) -> bytes:
        """All metrics as Prometheus reads them."""
        return generate_latest(self.registry)

    def collect(self) -> Iterable[Metric]:
        """All metrics but those of the process."""
        yield from _server(self._context)
        yield from _requests(self._context)
        yield from _tables(self._context)
        yield from _tls(self._context)
        yield from _http(self._http, self._guards)
        yield from _readers(self._feed, self._snapshots)
        yield from _peers(self._peers)


METRICS = web.AppKey("metrics", Metrics)


def _server(context: Context) -> Iterator[Metric]:
    info = {"version": version("signpost-namesrv"), "identity": context.identity}
    yield InfoMetricFamily("signpost_server", "Version and identity of this server.", info)
    ready = context.state.not_ready() is None
    yield _gauge("ready", "1 when clients should come here.", int(ready))
    stats, remoting = context.state.stats, context.remoting
    yield _gauge("connections", "Peers on the remoting port.", remoting.connections)
    yield _counter("connections_accepted", "Peers let in.", stats.connections_accepted)
    yield _counter("connections_refused", "Peers turned away: too many.", stats.connections_refused)


def _requests(context: Context) -> Iterator[Metric]:
    stats = context.state.stats
    counts: dict[tuple[str, str], int] = {}
    for (code, outcome), count in stats.requests.items():
        labels = _CODES.get(code, _UNKNOWN), _OUTCOMES.get(outcome, _UNKNOWN)
        counts[labels] = counts.get(labels, 0) + count
    look_up = RequestCode.GET_ROUTEINFO_BY_TOPIC.name, ResponseCode.SUCCESS.name
    counts[look_up] = counts.get(look_up, 0) + context.remoting.served
    requests = CounterMetricFamily(
        "signpost_requests", "Remoting requests answered.", labels=["code", "outcome"]
    )
    for labels, count in sorted(counts.items()):
        requests.add_metric(labels, count)
    yield requests
    seconds = HistogramMetricFamily(
        "signpost_request_seconds",
        "Time to answer a remoting request; look-ups answered from their bytes are not timed.",
        labels=["code"],
    )
    known = {code: buckets for code, buckets in stats.latency.items() if code in _CODES}
    for code, buckets in sorted(known.items()):
        seconds.add_metric([_CODES[code]], _cumulative(BUCKETS, buckets), stats.seconds[code])
    yield seconds


def _tables(context: Context) -> Iterator[Metric]:
    tables, now = context.state.tables, context.state.now_ms()
    yield _gauge("topics", "Topics known.", len(tables.topics))
    yield _gauge("broker_groups", "Broker groups known.", len(tables.groups))
    yield _gauge("brokers", "Brokers alive.", len(tables.live))
    yield _gauge("clusters", "Clusters known.", len(tables.clusters))
    yield _counter("revisions", "Changes to the tables in this life.", tables.revision)
    ages = sorted(max(0, now - live.last_update_ms) / 1000 for live in tables.live.values())
    yield _gauge(
        "heartbeat_age_max_seconds", "Age of the oldest last heartbeat.", ages[-1] if ages else 0
    )
    silent = GaugeMetricFamily(
        "signpost_brokers_silent",
        "Brokers whose last heartbeat is older than so many seconds.",
        labels=["seconds"],
    )
    for bound in AGES:
        silent.add_metric([str(bound)], sum(1 for age in ages if age > bound))
    yield silent
    left = CounterMetricFamily(
        "signpost_broker_departures", "Brokers that left, by reason.", labels=["reason"]
    )
    reasons = dict.fromkeys(("silent", "connection closed", "unregistered"), 0)
    reasons |= context.state.stats.departures
    for reason, count in sorted(reasons.items()):
        left.add_metric([reason], count)
    yield left
    yield _counter("kv_changes", "Entries of the KV configuration changed.", context.kv_changes)


def _tls(context: Context) -> Iterator[Metric]:
    tls = context.tls
    yield _counter("tls_reloads", "Certificates replaced.", tls.reloads if tls else 0)
    failures = tls.reload_failures if tls else 0
    yield _counter("tls_reload_failures", "New certificates that were bad.", failures)
    if tls is not None and tls.not_after is not None:
        yield _gauge(
            "tls_not_after_seconds", "End of the certificate, since the epoch.", tls.not_after
        )


def _http(stats: HttpStats, guards: Guards) -> Iterator[Metric]:
    requests = CounterMetricFamily(
        "signpost_http_requests", "HTTP requests answered.", labels=["method", "path", "status"]
    )
    for (method, path, status), count in sorted(stats.requests.items()):
        requests.add_metric([method, path, str(status)], count)
    yield requests
    seconds = HistogramMetricFamily(
        "signpost_http_request_seconds", "Time to answer an HTTP request.", labels=["path"]
    )
    for path, histogram in sorted(stats.seconds.items()):
        seconds.add_metric([path], _cumulative(LATENCY, histogram.counts), histogram.sum)
    yield seconds
    yield _gauge("http_connections", "Connections on the HTTP port.", len(guards))
    yield _counter("http_connections_refused", "HTTP clients turned away.", guards.refused)
    lag = HistogramMetricFamily(
        "signpost_event_loop_lag_seconds", "How much later than asked the event loop woke a timer."
    )
    lag.add_metric([], _cumulative(stats.lag.bounds, stats.lag.counts), stats.lag.sum)
    yield lag


def _readers(feed: Feed, snapshots: Snapshots) -> Iterator[Metric]:
    yield _gauge("watchers", "Watchers and long polls.", feed.readers)
    yield _counter("resyncs", "Watchers told to start over from a snapshot.", feed.resyncs)
    yield _counter("snapshots", "Snapshots written.", snapshots.total)


def _peers(peers: PeerWatch) -> Iterator[Metric]:
    states = GaugeMetricFamily(
        "signpost_peers", "Other name servers, by what is known of them.", labels=["state"]
    )
    for state, count in peers.counts().items():
        states.add_metric([state], count)
    yield states


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"signpost_{name}", text, value)


def _counter(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(f"signpost_{name}", text, value)


def _cumulative(bounds: Sequence[float], counts: Sequence[int]) -> list[tuple[str, float]]:
    buckets: list[tuple[str, float]] = []
    total = 0
    for bound, count in zip([*map(str, bounds), "+Inf"], counts, strict=True):
        total += count
        buckets.append((bound, total))
    return buckets


async def _metrics(call: Call[Nothing, Nothing]) -> web.StreamResponse:
    text = call.request.app[METRICS].text()
    return web.Response(body=text, headers={"Content-Type": _CONTENT_TYPE})


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/metrics",
        summary="Metrics for Prometheus",
        handle=_metrics,
        params=Nothing,
        body=Nothing,
        answers={200: Answer("Prometheus text.", None, "text/plain")},
    ),
)
