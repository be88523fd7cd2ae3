"""How the operator bears many resources: 200 NameServerClusters and 1,000 Brokers.

A real API server, etcd and controllers on loopback, no node: pods stay Pending. First a cold
operator makes everything; then a second cold one finds everything made, which is what a restart
or an upgrade of the operator is; then it rests. Calls are counted in the API server's audit log.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.cli import interruptible, parser, step, write_json
from bench.report import Row, rows_table
from tests.cluster.apiserver import ApiServer, wait_until
from tests.cluster.binaries import kubernetes
from tests.cluster.conftest import install_crds
from tests.cluster.kube import Kube
from tests.cluster.operators import Operator

USER = "operator"
COLD_SECONDS = 60.0
CLUSTERS, BROKERS, NAMESPACES = 200, 1_000, 10
WRITES = {"create", "update", "patch", "delete", "deletecollection"}
POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived", "ResponseStarted"],
    "rules": [{"level": "Metadata", "users": [USER]}, {"level": "None"}],
}


class Audit:
    """What the operator asked of the API server, by verb; its Lease left out."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0

    def since_last(self) -> Counter[str]:
        """The calls since this was asked before."""
        with self._path.open() as file:
            file.seek(self._read)
            text = file.read()
        whole = text.rpartition("\n")[0]
        self._read += len(whole.encode()) + bool(whole)
        events = [json.loads(line) for line in whole.splitlines()]
        return Counter(
            event["verb"]
            for event in events
            if event.get("objectRef", {}).get("resource") != "leases"
        )


def fill(kube: Kube, clusters: int, brokers: int, namespaces: int) -> None:
    """Make the resources, spread over the namespaces."""
    for number in range(namespaces):
        kube.namespace(f"load-{number}")

    def make(job: tuple[str, int]) -> None:
        kind, number = job
        cluster = number % clusters
        spec: dict[str, object] = {"replicas": 2}
        if kind == "Broker":
            spec = {
                "nameServerCluster": {"name": f"ns-{cluster}"},
                "storage": {"type": "Ephemeral"},
            }
        name = f"ns-{number}" if kind == "NameServerCluster" else f"b-{number}"
        kube.create(
            {
                "apiVersion": "signpost.dev/v1alpha1",
                "kind": kind,
                "metadata": {"name": name, "namespace": f"load-{cluster % namespaces}"},
                "spec": spec,
            }
        )

    jobs = [("NameServerCluster", number) for number in range(clusters)]
    jobs += [("Broker", number) for number in range(brokers)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(make, jobs))


def resident(pid: int) -> tuple[float, float]:
    """Resident memory now and at its highest, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return tuple(int(fields[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))  # type: ignore[return-value]


def processor_seconds(pid: int) -> float:
    """Time on a core, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def observed(kube: Kube) -> int:
    """How many resources have a status about their present spec."""
    count = 0
    for plural in ("nameserverclusters", "brokers"):
        for body in kube.items(f"/apis/signpost.dev/v1alpha1/{plural}"):
            seen = (body.get("status") or {}).get("observedGeneration")
            count += seen == body["metadata"]["generation"]
    return count


def started(kube: Kube) -> tuple[int, int]:
    """How many pods there are, and how many resources only wait for theirs to be ready."""
    waiting = 0
    for plural in ("nameserverclusters", "brokers"):
        for body in kube.items(f"/apis/signpost.dev/v1alpha1/{plural}"):
            conditions = (body.get("status") or {}).get("conditions", ())
            waiting += any(each["reason"] == "Starting" for each in conditions)
    return len(kube.items("/api/v1/pods")), waiting


def settled(operator: Operator, audit: Audit, seconds: float = 5.0) -> None:
    """Wait until the operator has written nothing for a while."""
    quiet = time.monotonic()
    while time.monotonic() - quiet < seconds:
        time.sleep(1.0)
        if any(verb in WRITES for verb in audit.since_last()):
            quiet = time.monotonic()
        assert operator.running(), "the operator ended"


def measure(folder: Path, clusters: int, brokers: int, rest: float) -> list[Row]:
    """All figures."""
    policy, log = folder / "audit-policy.json", folder / "audit.log"
    policy.write_text(json.dumps(POLICY))
    flags = {"audit_policy_file": policy, "audit_log_path": log}
    total, quick = clusters + brokers, clusters < CLUSTERS
    with ApiServer(kubernetes(), folder / "kubernetes", [USER], flags) as server:
        kube = server.kube()
        install_crds(kube)
        server.make_admin(USER)
        fill(kube, clusters, brokers, NAMESPACES)
        step(f"{clusters} NameServerClusters and {brokers} Brokers are there")
        audit, config, began = Audit(log), server.kubeconfig(USER), time.monotonic()
        settings = {"observe_seconds": 10, "resync_seconds": 600}
        with Operator(config, folder / "first", **settings) as first:
            wait_until(lambda: observed(kube) == total, "all are observed", 1800, 2.0)
            first_seconds = time.monotonic() - began
            step(f"a cold operator has made everything in {first_seconds:.0f} s")
            pods = 2 * clusters + brokers
            wait_until(lambda: started(kube) == (pods, total), "pods for all", 1800, 3.0)
            settled(first, audit)
            first_peak = resident(first.child.pid)[1]
        audit.since_last()
        step("starting a second one, which finds everything made")
        began = time.monotonic()
        with Operator(config, folder / "second", **settings) as second:
            wait_until(lambda: second.get("/readyz")[0] == 200, "all are observed", 600, 0.2)
            cold_seconds = time.monotonic() - began
            reconciled = second.metric("signpost_operator_reconciles_total")
            assert reconciled >= total, f"only {reconciled:.0f} of {total} were reconciled"
            step(f"all observed {cold_seconds:.1f} s after its start")
            time.sleep(10)
            cold_calls = audit.since_last()
            before = processor_seconds(second.child.pid)
            time.sleep(rest)
            busy = (processor_seconds(second.child.pid) - before) / rest
            calls = audit.since_last()
            memory = resident(second.child.pid)
            held = second.metric("signpost_operator_objects_held")
    step(f"calls at rest: {dict(calls)}")
    minutes = rest / 60
    at_rest = sum(calls[verb] for verb in WRITES)
    return [
        Row(f"{total:,} resources, everything to be made", first_seconds, "s"),
        Row("- resident at the highest meanwhile", first_peak, "MB"),
        Row("cold start, everything made: all observed", cold_seconds, "s",
            None if quick else COLD_SECONDS),
        Row("- writes", sum(cold_calls[verb] for verb in WRITES), "", 0),
        Row("- reads and lists", cold_calls["get"] + cold_calls["list"], ""),
        Row("- objects held in memory", held, ""),
        Row("- resident", memory[0], "MB"),
        Row("- resident at the highest", memory[1], "MB"),
        Row("at rest: writes a minute", at_rest / minutes, "", 0),
        Row("- other calls a minute, watches included",
            (sum(calls.values()) - at_rest) / minutes, ""),
        Row("- share of a core", busy * 100, "%"),
    ]  # fmt: skip


def main() -> None:
    """Measure and print."""
    options = parser(__doc__, ["scale"]).parse_args()
    clusters, brokers = (20, 100) if options.quick else (CLUSTERS, BROKERS)
    with tempfile.TemporaryDirectory(prefix="signpost-bench-") as folder:
        rows = measure(Path(folder), clusters, brokers, 30.0 if options.quick else 120.0)
    print(rows_table(rows))
    write_json(options.out, "operator_scale", {row.what: row.value for row in rows})


if __name__ == "__main__":
    interruptible(main)
