"""What name servers know: real ones on loopback, whose addresses the pods are said to have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cluster.scene import Scene, name_server, put, register, writable_topics

pytestmark = pytest.mark.usefixtures("operator")
CLUSTER = "NameServerCluster"


@pytest.fixture
def servers(scene: Scene, tmp_path: Path) -> Iterator[list[str]]:
    """A NameServerCluster of two, with a real name server behind each pod."""
    with ExitStack() as stack:
        ips = [stack.enter_context(name_server(tmp_path / str(number))) for number in range(2)]
        scene.cluster()
        for pod, ip in zip(scene.await_pods("ns", 2), ips, strict=True):
            scene.run_pod(pod, ip)
        scene.await_condition(CLUSTER, "ns", "Ready", "True")
        yield ips


def test_name_servers_that_differ_are_told_by_topic_and_broker(
    scene: Scene, servers: list[str]
) -> None:
    for ip in servers:
        register(ip, "b-0", "orders")
    scene.await_condition(CLUSTER, "ns", "RoutesConsistent", "True")
    scene.await_that(
        "the numbers are told", lambda: scene.read(CLUSTER, "ns")["status"].get("topics") == 3
    )
    register(servers[0], "lonely", "bills")
    scene.await_condition(CLUSTER, "ns", "RoutesConsistent", "False", "Disagree")

    def told() -> str:
        return str(scene.condition(CLUSTER, "ns", "RoutesConsistent")["message"])

    scene.await_that("the topic is named", lambda: "bills" in told())
    scene.await_that("the broker is named", lambda: "brokers lonely" in told())
    assert "orders" not in told()
    register(servers[1], "lonely", "bills")
    scene.await_condition(CLUSTER, "ns", "RoutesConsistent", "True", "Agree")
    assert scene.reasons(CLUSTER, "ns").count("Disagree") == 1


def test_a_name_server_that_does_not_answer_is_told(scene: Scene, servers: list[str]) -> None:
    [first, second] = scene.pods("ns")
    scene.run_pod(second, "127.0.66.66")
    told = scene.await_condition(CLUSTER, "ns", "Degraded", "True", "NotAnswering")
    assert second["metadata"]["name"] in told["message"]
    assert first["metadata"]["name"] not in told["message"]
    scene.run_pod(second, servers[1])
    scene.await_condition(CLUSTER, "ns", "Degraded", "False")


def test_the_kv_configuration_is_copied_when_all_agree_and_outlives_its_cluster(
    scene: Scene, servers: list[str]
) -> None:
    put(servers[0], "/v1/kv/ORDER_TOPIC_CONFIG/orders", {"value": "b-0:4"})
    scene.await_condition(CLUSTER, "ns", "RoutesConsistent", "True")
    assert scene.find("ConfigMap", "ns-namesrv-kv") is None
    put(servers[1], "/v1/kv/ORDER_TOPIC_CONFIG/orders", {"value": "b-0:4"})
    copy = scene.await_object("ConfigMap", "ns-namesrv-kv")
    assert "b-0:4" in str(copy["data"])
    scene.kube.delete("NameServerCluster", scene.namespace, "ns")
    scene.await_that("the rest goes", lambda: scene.find("ConfigMap", "ns-namesrv") is None, 60)
    assert scene.find("ConfigMap", "ns-namesrv-kv")


def test_a_group_is_drained_before_it_goes(scene: Scene, servers: list[str]) -> None:
    scene.broker(groups=2, sidecar={"drainSeconds": 2})
    for number, pod in enumerate(scene.await_pods("b", 2)):
        scene.run_pod(pod, f"127.0.60.{number + 1}")
    for ip in servers:
        register(ip, "b-0")
        register(ip, "b-1")
    scene.await_that(
        "both groups are known everywhere",
        lambda: (
            [
                group.get("knownTo")
                for group in scene.read("Broker", "b")["status"].get("groupStatus", ())
            ]
            == ["2/2", "2/2"]
        ),
    )
    scene.edit("Broker", "b", groups=1)
    scene.await_that(
        "b-1 cannot be written to any more",
        lambda: [writable_topics(ip, "b-1") for ip in servers] == [0, 0],
    )
    drained = scene.find("StatefulSet", "b-1")
    assert drained is None or "signpost.dev/draining-since" in drained["metadata"]["annotations"]
    scene.await_that("b-1 goes", lambda: scene.find("StatefulSet", "b-1") is None, 60)
    assert scene.find("ConfigMap", "b-1") is None
    assert scene.find("StatefulSet", "b-0")
    assert [writable_topics(ip, "b-0") for ip in servers] == [2, 2]
    reasons = scene.reasons("Broker", "b")
    assert [r for r in reasons if r in ("Draining", "Stopping", "Drained")].count("Draining") >= 1
    assert "Drained" in reasons


def test_the_last_writable_group_stays_unless_it_is_said_aloud(
    scene: Scene, servers: list[str]
) -> None:
    scene.broker(groups=1, sidecar={"drainSeconds": 0})
    [pod] = scene.await_pods("b", 1)
    scene.run_pod(pod, "127.0.61.1")
    for ip in servers:
        register(ip, "b-0")
    scene.await_that(
        "it is writable",
        lambda: (
            [g.get("writable") for g in scene.read("Broker", "b")["status"]["groupStatus"]]
            == [True]
        ),
    )
    scene.edit("Broker", "b", groups=0)
    told = scene.await_condition("Broker", "b", "Degraded", "True", "HeldBack")
    assert "the last one that can be written to" in told["message"]
    assert scene.read("StatefulSet", "b-0")["spec"]["replicas"] == 1
    scene.annotate("Broker", "b", allow_no_writable_group="true")
    scene.await_that("it goes", lambda: scene.find("StatefulSet", "b-0") is None, 60)
    assert scene.reasons("Broker", "b").count("HeldBack") == 1


def test_a_group_that_is_wanted_again_can_be_written_to_again(
    scene: Scene, servers: list[str]
) -> None:
    scene.broker(groups=2, sidecar={"drainSeconds": 600})
    for number, pod in enumerate(scene.await_pods("b", 2)):
        scene.run_pod(pod, f"127.0.62.{number + 1}")
    for ip in servers:
        register(ip, "b-0")
        register(ip, "b-1")
    scene.await_that(
        "both are writable",
        lambda: (
            [g.get("writable") for g in scene.read("Broker", "b")["status"]["groupStatus"]]
            == [True, True]
        ),
    )
    scene.edit("Broker", "b", groups=1)
    scene.await_that("no more writing", lambda: writable_topics(servers[0], "b-1") == 0)
    scene.edit("Broker", "b", groups=2)
    scene.await_that("writing again", lambda: writable_topics(servers[0], "b-1") == 2)
    live = scene.read("StatefulSet", "b-1")
    assert "signpost.dev/draining-since" not in live["metadata"].get("annotations", {})
    assert live["spec"]["replicas"] == 1


def test_storage_grows_with_the_pods_left_running(scene: Scene) -> None:
    """A StatefulSet cannot change its volume claims: another takes over its pods."""
    scene.cluster()
    scene.broker(storage={"type": "Volume", "size": "1Gi"})
    [pod] = scene.await_pods("b", 1)
    old = scene.read("StatefulSet", "b-0")["metadata"]["uid"]
    scene.edit("Broker", "b", storage={"size": "2Gi"})

    def replaced() -> bool:
        found = scene.find("StatefulSet", "b-0")
        return found is not None and found["metadata"]["uid"] != old

    scene.await_that("another StatefulSet takes over", replaced)
    # No storage class here lets a volume grow; that is told, and new ones are larger.
    scene.await_that("it is told", lambda: "VolumeNotGrown" in scene.reasons("Broker", "b"))
    claim = scene.read("StatefulSet", "b-0")["spec"]["volumeClaimTemplates"][0]
    assert claim["spec"]["resources"]["requests"]["storage"] == "2Gi"
    scene.await_that(
        "the pod is adopted",
        lambda: (
            [
                owner["uid"] != old
                for owner in scene.read("Pod", "b-0-0")["metadata"].get("ownerReferences", ())
            ]
            == [True]
        ),
    )
    assert scene.read("Pod", "b-0-0")["metadata"]["uid"] == pod["metadata"]["uid"]
