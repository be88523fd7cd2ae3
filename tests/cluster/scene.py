"""What the tests do again and again: make resources, look at them, play the kubelet."""

from __future__ import annotations

import json
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from tests.cluster.apiserver import Daemon, wait_until
from tests.cluster.kube import Kube, Object
from tests.cluster.operators import NAMESRV_HTTP, NAMESRV_REMOTING

API = "signpost.dev/v1alpha1"
TOKEN = "a-token-for-tests"
_hosts = count(1)


class Scene:
    """One namespace."""

    def __init__(self, kube: Kube, namespace: str) -> None:
        self.kube = kube
        self.namespace = namespace

    def make(self, kind: str, name: str, spec: Mapping[str, Any], **annotations: str) -> Object:
        metadata = {"name": name, "namespace": self.namespace, "annotations": annotations}
        return self.kube.create(
            {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": dict(spec)}
        )

    def cluster(self, name: str = "ns", **spec: Any) -> Object:
        """A NameServerCluster."""
        return self.make("NameServerCluster", name, {"replicas": 2, **spec})

    def broker(self, name: str = "b", cluster: str = "ns", **spec: Any) -> Object:
        """A Broker without volumes."""
        given = {"nameServerCluster": {"name": cluster}, "storage": {"type": "Ephemeral"}, **spec}
        return self.make("Broker", name, given)

    def edit(self, kind: str, name: str, **spec: Any) -> Object:
        """Change fields of a resource's spec."""
        return self.kube.merge(kind, self.namespace, name, {"spec": spec})

    def annotate(self, kind: str, name: str, **annotations: str | None) -> None:
        """Set annotations of signpost.dev."""
        given = {f"signpost.dev/{key.replace('_', '-')}": v for key, v in annotations.items()}
        self.kube.merge(kind, self.namespace, name, {"metadata": {"annotations": given}})

    def find(self, kind: str, name: str) -> Object | None:
        return self.kube.find(kind, self.namespace, name)

    def read(self, kind: str, name: str) -> Object:
        return self.kube.read(kind, self.namespace, name)

    def names(self, kind: str) -> set[str]:
        """Of all objects of a kind, those that Kubernetes makes by itself left out."""
        own = {"kube-root-ca.crt", "default"}
        return {each["metadata"]["name"] for each in self.kube.all(kind, self.namespace)} - own

    def condition(self, kind: str, name: str, what: str) -> Object:
        """One condition of a resource; empty when there is none."""
        status = self.read(kind, name).get("status") or {}
        return next((c for c in status.get("conditions", ()) if c["type"] == what), {})

    def await_condition(
        self, kind: str, name: str, what: str, status: str, reason: str = ""
    ) -> Object:
        """Wait for a condition, about the spec as it is now."""
        found: Object = {}

        def holds() -> bool:
            nonlocal found
            body = self.read(kind, name)
            conditions = (body.get("status") or {}).get("conditions", ())
            found = next((c for c in conditions if c["type"] == what), {})
            return (
                found.get("status") == status
                and (not reason or found["reason"] == reason)
                and found["observedGeneration"] == body["metadata"]["generation"]
            )

        wait_until(holds, f"{kind} {name}: {what} is {status} {reason}")
        return found

    def await_object(self, kind: str, name: str) -> Object:
        """Wait until an object is there."""
        wait_until(lambda: self.find(kind, name), f"{kind} {name} is there")
        return self.read(kind, name)

    def await_that(self, what: str, condition: Callable[[], object], seconds: float = 30) -> None:
        wait_until(condition, what, seconds)

    def events(self, kind: str, name: str) -> list[Object]:
        """The operator's events about a resource."""
        return [
            event
            for event in self.kube.all("Event", self.namespace)
            if event["involvedObject"]["kind"] == kind
            and event["involvedObject"]["name"] == name
            and event["source"].get("component") == "signpost-operator"
        ]

    def reasons(self, kind: str, name: str) -> list[str]:
        """Why there were events about a resource."""
        return [event["reason"] for event in self.events(kind, name)]

    def pods(self, owner: str) -> list[Object]:
        """The pods made for a resource."""
        found = self.kube.all("Pod", self.namespace, {"signpost.dev/owner": owner})
        return sorted(found, key=lambda pod: str(pod["metadata"]["name"]))

    def await_pods(self, owner: str, number: int) -> list[Object]:
        """Wait until the controllers have made the pods."""
        wait_until(lambda: len(self.pods(owner)) == number, f"{owner} has {number} pods")
        return self.pods(owner)

    def run_pod(self, pod: Object, ip: str, ready: bool = True) -> None:
        """Play the kubelet, which is not there: say that a pod runs at an address."""
        truth = "True" if ready else "False"
        status = {
            "phase": "Running",
            "podIP": ip,
            "podIPs": [{"ip": ip}],
            "conditions": [{"type": "Ready", "status": truth}],
        }
        name = pod["metadata"]["name"]
        self.kube.merge("Pod", self.namespace, name, {"status": status}, "status")


@contextmanager
def name_server(folder: Path) -> Iterator[str]:
    """A real name server on a loopback address of its own; gives the address."""
    ip = f"127.0.{(next(_hosts) >> 8) + 77}.{next(_hosts) % 250 + 1}"
    folder.mkdir(parents=True)
    tokens = folder / "tokens"
    tokens.write_text(TOKEN)
    flags = {
        "bindAddress": ip,
        "listenPort": NAMESRV_REMOTING,
        "httpPort": NAMESRV_HTTP,
        "kvConfigPath": folder / "kv.json",
        "httpTokenFile": tokens,
    }
    words = [str(word) for name, value in flags.items() for word in (f"--{name}", value)]
    daemon = Daemon(folder / "namesrv.log", [sys.executable, "-m", "signpost_namesrv", *words])

    def answers() -> bool:
        assert daemon.running(), daemon.log.read_text()
        try:
            with urllib.request.urlopen(f"http://{ip}:{NAMESRV_HTTP}/readyz", timeout=5):
                return True
        except OSError:
            return False

    try:
        wait_until(answers, f"the name server at {ip} is ready", 60)
        yield ip
    finally:
        daemon.kill()


def register(ip: str, broker: str, *topics: str) -> None:
    """Make a name server know a broker; at least two topics, as stock brokers always have."""
    body = {
        "address": f"{broker}.example:10911",
        "ttl_ms": 600_000,
        "topics": {topic: {"perm": 6} for topic in ("SELF_TEST", "TBW102", *topics)},
    }
    put(ip, f"/v1/brokers/DefaultCluster/{broker}/0", body)


def put(ip: str, path: str, body: Mapping[str, Any]) -> None:
    """Write to a name server over HTTP."""
    request = urllib.request.Request(
        f"http://{ip}:{NAMESRV_HTTP}{path}",
        data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
        method="PUT",
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.status < 300


def writable_topics(ip: str, broker: str) -> int:
    """On how many topics a name server lets producers write to a broker."""
    with urllib.request.urlopen(
        f"http://{ip}:{NAMESRV_HTTP}/v1/brokers/{broker}", timeout=10
    ) as answer:
        counted: int = json.load(answer)["topics"]["writable"]
    return counted
