"""What the operator counts of itself."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """One registry; no label whose values grow with the cluster."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.reconciles = Counter(
            "signpost_operator_reconciles",
            "Reconciliations by kind and outcome: unchanged, changed, refused, failed.",
            ["kind", "outcome"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "signpost_operator_reconcile_seconds",
            "How long reconciliations took.",
            ["kind"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.repairs = Counter(
            "signpost_operator_drift_repairs",
            "Objects that somebody else had changed or removed, put right.",
            ["kind"],
            registry=self.registry,
        )
        self.api_calls = Counter(
            "signpost_operator_api_calls",
            "Calls to the Kubernetes API by verb and HTTP status; watches are Kopf's own.",
            ["verb", "status"],
            registry=self.registry,
        )
        self.probes = Counter(
            "signpost_operator_probes",
            "Name servers asked over HTTP, by outcome: answered, failed.",
            ["outcome"],
            registry=self.registry,
        )
        self.waiting = Gauge(
            "signpost_operator_queue_length",
            "Resources waiting to be reconciled.",
            registry=self.registry,
        )
        self.held = Gauge(
            "signpost_operator_objects_held",
            "Objects that the operator keeps in memory.",
            registry=self.registry,
        )
        self.leading = Gauge(
            "signpost_operator_leader",
            "1 while this replica is the one that works.",
            registry=self.registry,
        )

    def count_call(self, verb: str, status: int) -> None:
        """One answer of the API server."""
        self.api_calls.labels(verb, str(status)).inc()
