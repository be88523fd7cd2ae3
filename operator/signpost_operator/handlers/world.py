"""All that the handlers share: what was last seen, and where to ask for work."""

from __future__ import annotations

import logging
from collections.abc import Callable

from signpost_operator.api import Api, Manifest
from signpost_operator.api.kinds import BROKER, NAME_SERVER_CLUSTER, ROUTE_HEALTH_REPORT
from signpost_operator.apply import Applier
from signpost_operator.metrics import Metrics
from signpost_operator.names import OWNER, OWNER_KIND
from signpost_operator.observe import Asker, Pods, Watcher
from signpost_operator.settings import Settings
from signpost_operator.store import Held, Ref, Store

from .tell import Teller

log = logging.getLogger("signpost.world")

RECONCILED = (NAME_SERVER_CLUSTER.name, BROKER.name)


class World:
    """The operator's memory. It is filled by the watches and by the lists of a resync."""

    def __init__(self, settings: Settings, api: Api, metrics: Metrics) -> None:
        self.settings = settings
        self.api = api
        self.metrics = metrics
        self.resources = Store()
        """Custom resources."""
        self.owned = Store()
        """What was made for them, except pods."""
        self.pods = Pods()
        self.applier = Applier(api, self.owned)
        self.teller = Teller(self.applier)
        self.asker = Asker(
            settings.http_port,
            settings.probe_seconds,
            lambda outcome: metrics.probes.labels(outcome).inc(),
        )
        self.watchers: dict[Ref, Watcher] = {}
        """By NameServerCluster."""
        self.apis: frozenset[str] = frozenset()
        """API groups that the cluster has."""
        self.ask: Callable[[Ref, float], None] = lambda ref, after: None
        """Ask for a resource to be reconciled, after so many seconds."""
        self._joined: dict[Ref, set[Ref]] = {}
        self._reports: dict[Ref, set[Ref]] = {}
        self._bugs: dict[Ref, str] = {}

    def resource_seen(self, ref: Ref, body: Manifest) -> None:
        """A custom resource appeared or changed."""
        before = self.resources.get(ref)
        held = self.resources.put(ref, body)
        if held is None:
            return
        self._link(ref, body)
        if before is None or _wish(before.body) != _wish(body):
            self._ask_around(ref, body)

    def resource_gone(self, ref: Ref, uid: str) -> None:
        """A custom resource was deleted."""
        held = self.resources.drop(ref, uid)
        if held is None:
            return
        body = held.body
        for links in (self._joined, self._reports):
            links.get(_cluster_of(ref, body), set()).discard(ref)
        self.watchers.pop(ref, None)
        self._bugs.pop(ref, None)
        self.applier.forget(uid)
        self._ask_around(ref, body)

    def object_seen(self, ref: Ref, body: Manifest) -> None:
        """One of the objects made for a resource appeared or changed."""
        held = self.owned.put(ref, body)
        if held is not None and (owner := owner_of(held, body)) is not None:
            self.ask(owner, 0.0)

    def object_gone(self, ref: Ref, body: Manifest) -> None:
        """One of the objects made for a resource was deleted."""
        held = self.owned.drop(ref, body["metadata"]["uid"])
        if held is not None and (owner := owner_of(held, body)) is not None:
            self.ask(owner, 0.0)

    def pod_seen(self, body: Manifest) -> None:
        """A pod appeared or changed."""
        owner = _labelled_owner(body)
        if owner is not None and self.pods.put(owner, body):
            self.ask(owner, 0.2)

    def pod_gone(self, body: Manifest) -> None:
        """A pod was deleted."""
        owner, metadata = _labelled_owner(body), body["metadata"]
        if owner is not None and self.pods.drop(owner, metadata["name"], metadata["uid"]):
            self.ask(owner, 0.2)

    def log_bug(self, ref: Ref, error: Exception) -> None:
        """An error that nobody foresaw: its trace once, not at every try."""
        text = repr(error)
        if self._bugs.get(ref) != text:
            self._bugs[ref] = text
            log.error("not reconciled", extra={"resource": " ".join(ref)}, exc_info=error)

    def brokers_of(self, cluster: Ref) -> list[Ref]:
        """The Broker resources that name a NameServerCluster."""
        return sorted(self._joined.get(cluster, ()))

    def reports_of(self, cluster: Ref) -> list[Manifest]:
        """The RouteHealthReports about a NameServerCluster."""
        held = [self.resources.get(ref) for ref in sorted(self._reports.get(cluster, ()))]
        return [each.body for each in held if each is not None]

    def watcher(self, cluster: Ref) -> Watcher:
        """What is remembered of a cluster's name servers."""
        return self.watchers.setdefault(cluster, Watcher(self.asker))

    def _link(self, ref: Ref, body: Manifest) -> None:
        if ref.kind == BROKER.name:
            self._joined.setdefault(_cluster_of(ref, body), set()).add(ref)
        elif ref.kind == ROUTE_HEALTH_REPORT.name:
            self._reports.setdefault(_cluster_of(ref, body), set()).add(ref)

    def _ask_around(self, ref: Ref, body: Manifest) -> None:
        """For the resource itself, and for those that depend on it."""
        if ref.kind in RECONCILED:
            self.ask(ref, 0.0)
        if ref.kind == NAME_SERVER_CLUSTER.name:
            for broker in self.brokers_of(ref):
                self.ask(broker, 0.0)
        else:
            self.ask(_cluster_of(ref, body), 0.0)


def owner_of(held: Held, body: Manifest) -> Ref | None:
    """The resource that an object was made for."""
    if held.owner_ref is not None and held.owner_ref.kind in RECONCILED:
        return held.owner_ref
    return _labelled_owner(body)


def _labelled_owner(body: Manifest) -> Ref | None:
    metadata = body["metadata"]
    labels = metadata.get("labels", {})
    kind, name = labels.get(OWNER_KIND), labels.get(OWNER)
    return Ref(kind, metadata["namespace"], name) if kind in RECONCILED and name else None


def _cluster_of(ref: Ref, body: Manifest) -> Ref:
    """The NameServerCluster that a Broker or a report is about."""
    spec = body.get("spec") or {}
    if ref.kind == ROUTE_HEALTH_REPORT.name:
        return Ref(NAME_SERVER_CLUSTER.name, ref.namespace, str(spec.get("cluster", "")))
    named = spec.get("nameServerCluster") or {}
    namespace = str(named.get("namespace") or ref.namespace)
    return Ref(NAME_SERVER_CLUSTER.name, namespace, str(named.get("name", "")))


def _wish(body: Manifest) -> tuple[object, ...]:
    """What of a resource its owner decides: our own writes of its status are no news."""
    metadata = body["metadata"]
    return (
        metadata["uid"],
        body.get("spec"),
        metadata.get("annotations"),
        metadata.get("deletionTimestamp"),
    )
