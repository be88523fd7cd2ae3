"""The operator under exactly the roles that the chart ships, as the chart's service account."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.apiserver import ApiServer
from tests.cluster.binaries import KUBERNETES, UnavailableError, helm
from tests.cluster.kube import Kube
from tests.cluster.operators import Operator
from tests.cluster.scene import Scene, name_server, register

CHART = Path(__file__).parent.parent.parent / "charts" / "signpost"
_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_PLURALS = {
    "Role": "roles",
    "RoleBinding": "rolebindings",
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
}


def rendered(namespace: str, *values: str) -> list[dict[str, Any]]:
    """What the chart makes, as Helm would send it."""
    flags = [word for value in values for word in ("--set", value)]
    try:
        program = helm()
    except UnavailableError as error:
        pytest.skip(str(error))
    done = subprocess.run(
        [str(program), "template", "signpost", str(CHART), "--kube-version", KUBERNETES,
         "--namespace", namespace, *flags],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def install_roles(kube: Kube, documents: list[dict[str, Any]]) -> dict[str, Any]:
    """Make the service account and its roles; the Deployment that would run with them."""
    for document in documents:
        kind, namespace = document["kind"], document["metadata"].get("namespace")
        if kind == "ServiceAccount":
            kube.create(document)
        elif kind in _PLURALS:
            where = "" if kind.startswith("Cluster") else f"/namespaces/{namespace}"
            kube.call("POST", f"{_RBAC}{where}/{_PLURALS[kind]}", document)
    return next(each for each in documents if each["kind"] == "Deployment")


def settings_of(deployment: dict[str, Any]) -> dict[str, str]:
    """The flags that the chart gives the operator."""
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    pairs = (flag.removeprefix("--").split("=", 1) for flag in container["args"])
    return {name.replace("-", "_"): value for name, value in pairs}


@pytest.fixture(params=["cluster", "namespace"])
def chartered(
    request: pytest.FixtureRequest,
    api_server: ApiServer,
    scene: Scene,
    tmp_path: Path,
    logs: list[Path],
) -> Iterator[Operator]:
    """The operator as the chart runs it: in the whole cluster, or in one namespace."""
    home = f"{scene.namespace}-home"
    scene.kube.namespace(home)
    values = [f"namespaces={{{scene.namespace}}}"] if request.param == "namespace" else []
    deployment = install_roles(scene.kube, rendered(home, *values))
    account = deployment["spec"]["template"]["spec"]["serviceAccountName"]
    given = scene.kube.call(
        "POST", f"/api/v1/namespaces/{home}/serviceaccounts/{account}/token", {"spec": {}}
    )
    config = json.loads(api_server.kubeconfig().read_text())
    config["users"][0]["user"]["token"] = given["status"]["token"]
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(config))
    flags = settings_of(deployment) | {
        "leader_election": "true",
        "lease_namespace": home,
        "observe_seconds": "0.3",
    }
    with Operator(path, tmp_path / "operator", **flags) as started:
        logs.append(started.log)
        yield started
    for kind in ("clusterroles", "clusterrolebindings"):
        if request.param == "cluster":
            scene.kube.call("DELETE", f"{_RBAC}/{kind}/signpost")


def test_the_shipped_roles_suffice(chartered: Operator, scene: Scene, tmp_path: Path) -> None:
    chartered.await_ready()
    scene.cluster()
    scene.broker(
        groups=2,
        sidecar={"drainSeconds": 0, "discovery": "EndpointSlices"},
        storage={"type": "Volume", "size": "1Gi"},
    )
    with name_server(tmp_path / "server") as ip:
        for pod in scene.await_pods("ns", 2):
            scene.run_pod(pod, ip)
        for pod in scene.await_pods("b", 2):
            scene.run_pod(pod, "127.0.59.1")
        register(ip, "b-0")
        register(ip, "b-1")
        scene.await_condition("NameServerCluster", "ns", "RoutesConsistent", "True")
        scene.kube.delete("Service", scene.namespace, "ns-namesrv")
        scene.await_object("Service", "ns-namesrv")
        scene.edit("NameServerCluster", "ns", disruption={"enabled": False}, replicas=1)
        scene.await_that(
            "the budget goes", lambda: scene.find("PodDisruptionBudget", "ns-namesrv") is None
        )
        scene.edit("Broker", "b", image="apache/rocketmq:5.3.2", groups=1)
        scene.await_that("the group goes", lambda: scene.find("StatefulSet", "b-1") is None, 60)
        scene.await_that("events are told", lambda: "Drained" in scene.reasons("Broker", "b"))
    assert refusals(chartered) == []


def refusals(operator: Operator) -> list[str]:
    """Whatever the API server did not allow."""
    lines = operator.get("/metrics")[1].splitlines()
    counted = [line for line in lines if "api_calls_total" in line and 'status="403"' in line]
    text = operator.log.read_text().splitlines()
    return counted + [line for line in text if "orbidden" in line or "'code': 403" in line]


def test_the_roles_are_no_wider_than_needed(api_server: ApiServer, scene: Scene) -> None:
    documents = rendered(scene.namespace, f"namespaces={{{scene.namespace}}}")
    rules = [
        rule
        for each in documents
        if each["kind"] in ("Role", "ClusterRole") and "aggregate" not in str(each["metadata"])
        for rule in each["rules"]
    ]
    assert not [rule for rule in rules if "*" in rule["verbs"] + rule["resources"]]
    assert not [rule for rule in rules if "secrets" in rule["resources"]]
