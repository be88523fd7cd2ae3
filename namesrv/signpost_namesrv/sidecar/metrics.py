"""`/metrics`: the sidecar's numbers as Prometheus text, read when asked."""

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from signpost_namesrv.dispatch.stats import BUCKETS
from signpost_namesrv.wire.codes import RequestCode

from .sidecar import Sidecar
from .status import readiness

_PREFIX = "signpost_sidecar_"
_CODES = {int(code): code.name for code in RequestCode}


class Metrics(Collector):
    """Labels are the endpoints that discovery lists, and known request codes: both are few."""

    def __init__(self, sidecar: Sidecar) -> None:
        self._sidecar = sidecar
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(self)
        ProcessCollector(registry=self.registry)

    def text(self) -> bytes:
        """All metrics."""
        return generate_latest(self.registry)

    def collect(self) -> Iterable[Metric]:
        """All metrics but those of the process."""
        sidecar = self._sidecar
        yield _gauge("ready", "1 when every broker has a name server.", int(readiness(sidecar)[0]))
        yield _gauge("brokers", "Brokers known.", len(sidecar.carrier.records))
        yield from _endpoints(sidecar)
        yield from _registrations(sidecar)
        yield from _discovery(sidecar)
        yield from _requests(sidecar)


def _endpoints(sidecar: Sidecar) -> Iterator[Metric]:
    now = sidecar.now()
    up = _gauges("endpoint_up", "1 when connected.", "endpoint")
    age = _gauges("endpoint_beat_age_seconds", "Since it last accepted.", "endpoint")
    caught = _counters("endpoint_catch_ups", "Registrations sent on connecting.", "endpoint")
    failed = _counters("endpoint_failures", "Connections lost or not made.", "endpoint")
    for endpoint in sidecar.fleet.endpoints:
        labels = [endpoint.address]
        up.add_metric(labels, int(endpoint.up))
        if endpoint.last_beat is not None:
            age.add_metric(labels, now - endpoint.last_beat)
        caught.add_metric(labels, endpoint.catch_ups)
        failed.add_metric(labels, endpoint.failures)
    yield from (up, age, caught, failed)


def _registrations(sidecar: Sidecar) -> Iterator[Metric]:
    sums = sidecar.teller.sums
    sent = _counters("registrations", "What name servers were sent, by kind.", "kind")
    for kind, count in (
        ("full", sums.full),
        ("increment", sums.increments),
        ("query", sums.queries),
    ):
        sent.add_metric([kind], count)
    yield sent
    yield CounterMetricFamily(
        _PREFIX + "registration_bytes_saved",
        "Bytes not sent because a version query was enough.",
        value=sums.bytes_saved,
    )


def _discovery(sidecar: Sidecar) -> Iterator[Metric]:
    listed = _gauges("discovered", "Addresses listed.", "source")
    failures = _counters("discovery_failures", "Looks without a list.", "source")
    for source, listing in sidecar.roster.listings.items():
        listed.add_metric([source], len(listing.addresses))
        failures.add_metric([source], listing.failures)
    yield from (listed, failures)


def _requests(sidecar: Sidecar) -> Iterator[Metric]:
    """Timed from the broker's request to its answer."""
    stats = sidecar.listener.stats
    seconds = HistogramMetricFamily(
        _PREFIX + "fan_out_seconds", "Time to answer the broker.", labels=["code"]
    )
    for code, buckets in sorted(stats.latency.items()):
        if code not in _CODES:
            continue
        total, cumulative = 0, []
        for bound, count in zip((*map(str, BUCKETS), "+Inf"), buckets, strict=True):
            total += count
            cumulative.append((bound, float(total)))
        seconds.add_metric([_CODES[code]], cumulative, stats.seconds[code])
    yield seconds


def _gauge(name: str, about: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(_PREFIX + name, about, value=value)


def _gauges(name: str, about: str, label: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(_PREFIX + name, about, labels=[label])


def _counters(name: str, about: str, label: str) -> CounterMetricFamily:
    return CounterMetricFamily(_PREFIX + name, about, labels=[label])
