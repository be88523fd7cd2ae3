"""From creation to deletion, against a real API server and its controllers.

There is no kubelet: pods stay Pending until a test says that they run.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.cluster.apiserver import ApiServer
from tests.cluster.operators import Operator
from tests.cluster.scene import Scene

pytestmark = pytest.mark.usefixtures("operator")

OF_NAME_SERVERS = {
    "Deployment": {"ns-namesrv"},
    "Service": {"ns-namesrv", "ns-namesrv-all"},
    "ConfigMap": {"ns-namesrv"},
    "ServiceAccount": {"ns-namesrv"},
    "PodDisruptionBudget": {"ns-namesrv"},
    "NetworkPolicy": {"ns-namesrv"},
}


def test_a_cluster_gets_all_its_objects_and_becomes_ready(
    api_server: ApiServer, scene: Scene
) -> None:
    scene.cluster()
    scene.await_condition("NameServerCluster", "ns", "Ready", "False", "NotAllReady")
    found = {kind: scene.names(kind) for kind in OF_NAME_SERVERS}
    assert found == OF_NAME_SERVERS
    for number, pod in enumerate(scene.await_pods("ns", 2)):
        scene.run_pod(pod, f"127.0.70.{number + 1}")
    waited = api_server.kubectl(
        "-n", scene.namespace, "wait", "--for=condition=Ready", "nsc/ns", "--timeout=20s"
    )
    assert waited.returncode == 0, waited.stderr
    line = api_server.kubectl("-n", scene.namespace, "get", "nsc", "ns", "--no-headers").stdout
    assert line.split()[:2] == ["ns", "2/2"]
    assert "Created" in scene.reasons("NameServerCluster", "ns")


def test_every_object_is_owned_and_marked(scene: Scene) -> None:
    made = scene.cluster()
    scene.await_condition("NameServerCluster", "ns", "Progressing", "True")
    for kind, names in OF_NAME_SERVERS.items():
        for name in names:
            metadata = scene.read(kind, name)["metadata"]
            [owner] = metadata["ownerReferences"]
            assert (owner["uid"], owner["controller"]) == (made["metadata"]["uid"], True)
            managers = {
                m["manager"] for m in metadata["managedFields"] if m["operation"] == "Apply"
            }
            assert managers == {"signpost-operator"}
    assert "finalizers" not in scene.read("NameServerCluster", "ns")["metadata"]


def template(scene: Scene, *path: str | int) -> Any:
    """Something in the pod template of the name servers."""
    at: Any = scene.read("Deployment", "ns-namesrv")["spec"]["template"]
    for part in path:
        at = at.get(part) if isinstance(part, str) else at[part]
    return at


EDITS: list[tuple[str, dict[str, Any], tuple[str | int, ...], Any]] = [
    ("image", {"image": "else/where:2"}, ("spec", "containers", 0, "image"), "else/where:2"),
    ("version", {"version": "9.9"}, ("spec", "containers", 0, "image"), "signpost/namesrv:9.9"),
    (
        "resources",
        {"resources": {"limits": {"memory": "1024Mi"}}},
        ("spec", "containers", 0, "resources", "limits", "memory"),
        "1Gi",
    ),
    (
        "placement",
        {"placement": {"nodeSelector": {"disk": "fast"}}},
        ("spec", "nodeSelector"),
        {"disk": "fast"},
    ),
    (
        "tolerations",
        {"placement": {"tolerations": [{"key": "k", "operator": "Exists"}]}},
        ("spec", "tolerations"),
        [{"key": "k", "operator": "Exists"}],
    ),
    (
        "imagePullPolicy",
        {"imagePullPolicy": "Always"},
        ("spec", "containers", 0, "imagePullPolicy"),
        "Always",
    ),
    (
        "podTemplate",
        {"podTemplate": {"metadata": {"annotations": {"mine": "yes"}}}},
        ("metadata", "annotations", "mine"),
        "yes",
    ),
]


@pytest.mark.parametrize(("name", "edit", "path", "value"), EDITS, ids=[e[0] for e in EDITS])
def test_an_edit_reaches_what_already_runs(
    scene: Scene, name: str, edit: dict[str, Any], path: tuple[str | int, ...], value: Any
) -> None:
    scene.cluster()
    before = scene.await_object("Deployment", "ns-namesrv")["metadata"]["generation"]
    scene.edit("NameServerCluster", "ns", **edit)
    scene.await_that(f"{name} arrives", lambda: template(scene, *path) == value)
    assert scene.read("Deployment", "ns-namesrv")["metadata"]["generation"] == before + 1


def test_what_is_taken_out_of_the_spec_is_taken_away(scene: Scene) -> None:
    scene.cluster(placement={"nodeSelector": {"disk": "fast"}}, exposure={"type": "NodePort"})
    scene.await_object("Deployment", "ns-namesrv")
    assert scene.await_object("Service", "ns-namesrv")["spec"]["type"] == "NodePort"
    scene.edit(
        "NameServerCluster",
        "ns",
        placement={"nodeSelector": None},
        exposure=None,
        disruption={"enabled": False},
    )
    scene.await_that("the selector goes", lambda: not template(scene, "spec", "nodeSelector"))
    scene.await_that(
        "the budget goes", lambda: scene.find("PodDisruptionBudget", "ns-namesrv") is None
    )
    assert scene.read("Service", "ns-namesrv")["spec"]["type"] == "ClusterIP"
    scene.await_that(
        "an event says so", lambda: "Removed" in scene.reasons("NameServerCluster", "ns")
    )


def test_a_change_of_configuration_rolls_the_pods(scene: Scene) -> None:
    scene.cluster()
    scene.await_object("Deployment", "ns-namesrv")
    before = template(scene, "metadata", "annotations", "signpost.dev/config-hash")
    scene.edit("NameServerCluster", "ns", config={"enableTopicList": False})
    scene.await_that(
        "the hash changes",
        lambda: template(scene, "metadata", "annotations", "signpost.dev/config-hash") != before,
    )
    assert "enableTopicList" in str(scene.read("ConfigMap", "ns-namesrv")["data"])


def test_kubectl_scales(api_server: ApiServer, scene: Scene) -> None:
    scene.cluster()
    scene.await_pods("ns", 2)
    scaled = api_server.kubectl("-n", scene.namespace, "scale", "nsc/ns", "--replicas=5")
    assert scaled.returncode == 0, scaled.stderr
    scene.await_pods("ns", 5)
    api_server.kubectl("-n", scene.namespace, "scale", "nsc/ns", "--replicas=1")
    scene.await_pods("ns", 1)
    scene.await_that(
        "the status follows",
        lambda: scene.read("NameServerCluster", "ns")["status"]["replicas"] == 1,
    )


def test_drift_is_repaired(scene: Scene, operator: Operator) -> None:
    scene.cluster()
    scene.await_condition("NameServerCluster", "ns", "Progressing", "True")
    before = operator.metric("signpost_operator_drift_repairs_total")
    old = scene.read("Service", "ns-namesrv-all")["metadata"]["uid"]
    scene.kube.delete("Service", scene.namespace, "ns-namesrv-all")
    scene.kube.merge("Deployment", scene.namespace, "ns-namesrv", {"spec": {"replicas": 7}})
    scene.kube.merge("ConfigMap", scene.namespace, "ns-namesrv", {"data": None})
    scene.kube.merge(
        "PodDisruptionBudget",
        scene.namespace,
        "ns-namesrv",
        {"metadata": {"labels": {"app.kubernetes.io/managed-by": None}}},
    )

    def repaired() -> bool:
        service = scene.find("Service", "ns-namesrv-all")
        budget = scene.read("PodDisruptionBudget", "ns-namesrv")
        return (
            service is not None
            and service["metadata"]["uid"] != old
            and scene.read("Deployment", "ns-namesrv")["spec"]["replicas"] == 2
            and bool(scene.read("ConfigMap", "ns-namesrv").get("data"))
            and "app.kubernetes.io/managed-by" in budget["metadata"]["labels"]
        )

    scene.await_that("everything is as before", repaired, 10)
    scene.await_that(
        "they are counted",
        lambda: operator.metric("signpost_operator_drift_repairs_total") >= before + 3,
    )
    told = [e["message"] for e in scene.events("NameServerCluster", "ns")]
    assert any("ns-namesrv-all was changed by somebody else: it was deleted" in m for m in told)
    assert any("Deployment ns-namesrv" in m and "spec.replicas" in m for m in told)


def test_what_somebody_adds_beside_ours_stays(scene: Scene) -> None:
    scene.cluster()
    scene.await_object("Deployment", "ns-namesrv")
    restart = {"kubectl.kubernetes.io/restartedAt": "now"}
    scene.kube.merge(
        "Deployment",
        scene.namespace,
        "ns-namesrv",
        {"spec": {"template": {"metadata": {"annotations": restart}}}},
    )
    scene.edit("NameServerCluster", "ns", replicas=3)
    scene.await_that(
        "the edit arrives",
        lambda: scene.read("Deployment", "ns-namesrv")["spec"]["replicas"] == 3,
    )
    assert template(scene, "metadata", "annotations")["kubectl.kubernetes.io/restartedAt"] == "now"


def test_an_object_of_somebody_else_is_left_alone(scene: Scene) -> None:
    theirs = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "ns-namesrv", "namespace": scene.namespace},
        "data": {"their": "data"},
    }
    scene.kube.create(theirs)
    scene.cluster()
    told = scene.await_condition("NameServerCluster", "ns", "Degraded", "True", "ApplyFailed")
    assert "ConfigMap ns-namesrv: exists already and belongs to somebody else" in told["message"]
    assert scene.read("ConfigMap", "ns-namesrv")["data"] == {"their": "data"}
    scene.kube.delete("ConfigMap", scene.namespace, "ns-namesrv")
    scene.await_condition("NameServerCluster", "ns", "Degraded", "False")
    assert scene.reasons("NameServerCluster", "ns").count("ApplyFailed") == 1


def test_paused_stops_changes_and_keeps_the_status(scene: Scene) -> None:
    scene.cluster()
    pods = scene.await_pods("ns", 2)
    scene.annotate("NameServerCluster", "ns", paused="true")
    scene.await_condition("NameServerCluster", "ns", "Progressing", "False", "Paused")
    scene.edit("NameServerCluster", "ns", replicas=4)
    scene.kube.delete("Service", scene.namespace, "ns-namesrv")
    scene.run_pod(pods[0], "127.0.71.1")
    scene.await_that(
        "the status follows",
        lambda: scene.read("NameServerCluster", "ns")["status"]["readyReplicas"] == 1,
    )
    scene.await_condition("NameServerCluster", "ns", "Progressing", "False", "Paused")
    assert scene.read("Deployment", "ns-namesrv")["spec"]["replicas"] == 2
    assert scene.find("Service", "ns-namesrv") is None
    scene.annotate("NameServerCluster", "ns", paused=None)
    scene.await_pods("ns", 4)
    scene.await_object("Service", "ns-namesrv")


def test_deletion_takes_everything_along_but_volumes(scene: Scene) -> None:
    scene.cluster()
    scene.broker(storage={"type": "Volume", "size": "1Gi"})
    scene.await_pods("b", 1)
    scene.await_that("the volume", lambda: scene.names("PersistentVolumeClaim"))
    scene.kube.delete("Broker", scene.namespace, "b")
    scene.kube.delete("NameServerCluster", scene.namespace, "ns")
    kinds = [*OF_NAME_SERVERS, "StatefulSet", "Pod"]
    scene.await_that("everything goes", lambda: not any(scene.names(kind) for kind in kinds), 60)
    assert scene.names("PersistentVolumeClaim") == {"store-b-0-0"}


def test_a_namespace_with_resources_can_be_deleted(scene: Scene) -> None:
    scene.cluster()
    scene.broker()
    scene.await_pods("b", 1)
    path = f"/api/v1/namespaces/{scene.namespace}"
    scene.kube.call("DELETE", path)
    scene.await_that(
        "the namespace goes",
        lambda: (
            scene.namespace
            not in {n["metadata"]["name"] for n in scene.kube.items("/api/v1/namespaces")}
        ),
        60,
    )
