"""Bad specs: refused by the API server with a sentence that helps, or told in a condition."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cluster.apiserver import ApiServer, wait_until
from tests.cluster.kube import RefusedError
from tests.cluster.operators import Operator
from tests.cluster.scene import Scene

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("NameServerCluster", {"replicas": -1}, "spec.replicas"),
    ("NameServerCluster", {"exposure": {"nodePort": 30000}}, "nodePort needs type NodePort"),
    (
        "NameServerCluster",
        {"image": "a:1", "version": "2"},
        "image already names a tag or a digest: leave version out",
    ),
    (
        "NameServerCluster",
        {"access": {"httpReadsNeedToken": True}},
        "httpReadsNeedToken needs a token",
    ),
    ("Broker", {}, "nameServerCluster"),
    (
        "Broker",
        {"nameServerCluster": {"name": "ns"}, "sidecar": {"mode": "Declared"}},
        "mode Declared needs topics",
    ),
    (
        "Broker",
        {"nameServerCluster": {"name": "ns"}, "config": {"brokerId": "3"}},
        "brokerId is set by the operator",
    ),
]


@pytest.mark.parametrize(("kind", "spec", "sentence"), REFUSED)
def test_the_api_server_refuses_with_a_sentence(
    api_server: ApiServer, scene: Scene, kind: str, spec: dict[str, Any], sentence: str
) -> None:
    """A field that is not known is refused by kubectl, which asks for that; the rest by all."""
    strict = "?fieldValidation=Strict"
    plural = {"NameServerCluster": "nameserverclusters", "Broker": "brokers"}[kind]
    path = f"/apis/signpost.dev/v1alpha1/namespaces/{scene.namespace}/{plural}{strict}"
    body = {"apiVersion": "signpost.dev/v1alpha1", "kind": kind, "metadata": {"name": "x"}}
    with pytest.raises(RefusedError) as refused:
        scene.kube.call("POST", path, body | {"spec": spec})
    assert sentence in refused.value.message


def test_what_cannot_change_is_refused(scene: Scene) -> None:
    scene.broker(clusterName="first", storage={"type": "Volume", "size": "2Gi"})
    with pytest.raises(RefusedError, match="clusterName cannot change"):
        scene.edit("Broker", "b", clusterName="second")
    with pytest.raises(RefusedError, match="volumes can only grow"):
        scene.edit("Broker", "b", storage={"size": "1Gi"})
    with pytest.raises(RefusedError, match="a Broker stays with its NameServerCluster"):
        scene.edit("Broker", "b", nameServerCluster={"name": "other"})
    scene.edit("Broker", "b", storage={"size": "3Gi"})


def test_kubectl_explains(api_server: ApiServer) -> None:
    """The API server publishes what it knows of new kinds a moment after it knows them."""
    wait_until(
        lambda: "waitSeconds" in api_server.kubectl("explain", "nsc.spec.warmup").stdout,
        "kubectl explains the warm-up",
    )


def test_a_spec_that_slips_past_the_schema_is_told_in_a_condition(
    scene: Scene, operator: Operator
) -> None:
    """The schema cannot look into a part of a pod's spec; the operator only finds out later."""
    scene.cluster(podTemplate={"spec": {"terminationGracePeriodSeconds": "soon"}})
    told = scene.await_condition("NameServerCluster", "ns", "Degraded", "True", "ApplyFailed")
    assert "Deployment ns-namesrv" in told["message"]
    assert "terminationGracePeriodSeconds" in told["message"]
    scene.edit(
        "NameServerCluster", "ns", podTemplate={"spec": {"terminationGracePeriodSeconds": 9}}
    )
    scene.await_condition("NameServerCluster", "ns", "Degraded", "False")
    assert scene.reasons("NameServerCluster", "ns").count("ApplyFailed") == 1
    assert not [line for line in operator.lines() if "stack" in line]


@pytest.mark.usefixtures("operator")
def test_a_broker_without_its_cluster_waits_for_it(scene: Scene) -> None:
    scene.broker()
    told = scene.await_condition("Broker", "b", "Ready", "False", "NoNameServerCluster")
    assert told["message"] == f"there is no NameServerCluster {scene.namespace}/ns"
    scene.cluster()
    scene.await_pods("b", 1)
    scene.await_condition("Broker", "b", "Degraded", "False")


@pytest.mark.usefixtures("operator")
def test_a_broker_of_another_namespace_must_be_let_in(scene: Scene) -> None:
    scene.cluster()
    there = Scene(scene.kube, f"{scene.namespace}-other")
    scene.kube.namespace(there.namespace)
    there.broker(nameServerCluster={"name": "ns", "namespace": scene.namespace})
    told = there.await_condition("Broker", "b", "Ready", "False", "NotAllowed")
    assert "access.brokerNamespaces" in told["message"]
    scene.edit("NameServerCluster", "ns", access={"brokerNamespaces": [there.namespace]})
    there.await_pods("b", 1)
    expected = scene.read("ConfigMap", "ns-namesrv")["data"]["expectedBrokers"]
    assert expected == "DefaultCluster/b-0"


@pytest.mark.usefixtures("operator")
def test_a_wrong_setting_leaves_what_runs_alone(scene: Scene) -> None:
    """Settings that the schema does not know reach the operator, which knows them all."""
    scene.cluster()
    scene.await_pods("ns", 2)
    scene.edit("NameServerCluster", "ns", replicas=4, config={"enableTopicLst": True})
    told = scene.await_condition("NameServerCluster", "ns", "Ready", "False", "InvalidSpec")
    assert "did you mean enableTopicList?" in told["message"]
    assert scene.read("Deployment", "ns-namesrv")["spec"]["replicas"] == 2
    assert scene.reasons("NameServerCluster", "ns").count("InvalidSpec") == 1
    scene.edit("NameServerCluster", "ns", config={"enableTopicLst": None})
    scene.await_pods("ns", 4)
    scene.await_condition("NameServerCluster", "ns", "Degraded", "False")
