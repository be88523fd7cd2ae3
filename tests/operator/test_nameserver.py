"""What a NameServerCluster becomes."""

import json
from typing import Any

import pytest

from signpost_operator import names
from signpost_operator.desired import Context, Manifest, kv_file, kv_map, name_servers
from tests.operator.made import CONTEXT, broker, cluster, container, environment, kinds, one, pod

TOKEN = {"httpTokenSecret": {"name": "tokens"}}
TLS = {"secretName": "cert", "mode": "Enforcing", "clientAuth": "Require"}


def built(**spec: Any) -> list[Manifest]:
    return name_servers(cluster(**spec), CONTEXT)


def properties(**spec: Any) -> dict[str, str]:
    text = one(built(**spec), "ConfigMap")["data"]["namesrv.properties"]
    return dict(line.split("=", 1) for line in text.splitlines())


def rolled(**spec: Any) -> str:
    """What decides whether pods are replaced."""
    return json.dumps(one(built(**spec), "Deployment")["spec"]["template"], sort_keys=True)


def test_the_objects_of_a_cluster() -> None:
    assert kinds(built()) == [
        "ServiceAccount/routes-namesrv",
        "ConfigMap/routes-namesrv",
        "Service/routes-namesrv-all",
        "Service/routes-namesrv",
        "NetworkPolicy/routes-namesrv",
        "PodDisruptionBudget/routes-namesrv",
        "Deployment/routes-namesrv",
    ]


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ({"disruption": {"enabled": False}}, "PodDisruptionBudget"),
        ({"networkPolicy": {"enabled": False}}, "NetworkPolicy"),
    ],
)
def test_what_is_not_wanted_is_not_made(spec: dict[str, Any], kind: str) -> None:
    assert kind not in {o["kind"] for o in built(**spec)}


def test_every_object_belongs_to_its_cluster() -> None:
    for made in built():
        owner = made["metadata"]["ownerReferences"][0]
        assert (owner["kind"], owner["name"], owner["controller"]) == (
            "NameServerCluster",
            "routes",
            True,
        )
        assert made["metadata"]["labels"][names.OWNER] == "routes"


def test_a_new_name_server_is_warm_before_an_old_one_goes() -> None:
    deployment = one(built(), "Deployment")["spec"]
    assert deployment["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    probe = container({"spec": deployment}, "name-server")["readinessProbe"]
    assert probe["httpGet"]["path"] == "/readyz"
    assert properties()["needWaitForService"] == "true"


def test_a_pod_has_time_to_leave() -> None:
    deployment = one(built(), "Deployment")
    leaving = container(deployment, "name-server")["lifecycle"]["preStop"]["sleep"]["seconds"]
    wait = int(properties()["shutdownWaitTimeSeconds"])
    assert pod(deployment)["terminationGracePeriodSeconds"] > leaving + wait


def test_sidecars_find_name_servers_that_are_not_ready_and_clients_do_not() -> None:
    objects = built()
    headless = one(objects, "Service", "routes-namesrv-all")["spec"]
    assert (headless["clusterIP"], headless["publishNotReadyAddresses"]) == ("None", True)
    assert "publishNotReadyAddresses" not in one(objects, "Service", "routes-namesrv")["spec"]


@pytest.mark.parametrize(
    ("exposure", "expected"),
    [
        ({}, {"type": "ClusterIP"}),
        ({"type": "NodePort", "nodePort": 30876}, {"externalTrafficPolicy": "Cluster"}),
        (
            {"type": "LoadBalancer", "loadBalancerSourceRanges": ["10.0.0.0/8"]},
            {"type": "LoadBalancer", "loadBalancerSourceRanges": ["10.0.0.0/8"]},
        ),
    ],
)
def test_the_clients_service(exposure: dict[str, Any], expected: dict[str, Any]) -> None:
    spec = one(built(exposure=exposure), "Service", "routes-namesrv")["spec"]
    assert expected.items() <= spec.items()


def test_the_service_ports_can_be_chosen_and_the_pods_stay() -> None:
    ports = one(
        built(exposure={"type": "NodePort", "port": 19876, "nodePort": 30876, "http": False}),
        "Service",
        "routes-namesrv",
    )["spec"]["ports"]
    assert ports == [
        {
            "name": "remoting",
            "port": 19876,
            "targetPort": "remoting",
            "protocol": "TCP",
            "nodePort": 30876,
        }
    ]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, {"tls.server.mode": "disabled", "logFormat": "json", "waitSecondsForService": "45"}),
        ({"config": {"logFormat": "text", "enableTopicList": False}}, {"logFormat": "text"}),
        ({"config": {"enableTopicList": False}}, {"enableTopicList": "false"}),
        ({"warmup": {"waitSeconds": 5}}, {"waitSecondsForService": "5"}),
        (
            {"access": {"adminAddresses": ["10.0.0.1", "::1"]}},
            {"adminAddresses": "10.0.0.1,::1"},
        ),
        ({"access": TOKEN}, {"httpTokenFile": "/etc/signpost/http/tokens"}),
        (
            {"tls": TLS},
            {
                "tls.server.mode": "enforcing",
                "tls.server.need.client.auth": "require",
                "tls.server.trustCertPath": "/etc/signpost/tls/ca.crt",
            },
        ),
        ({}, {"peerService": "routes-namesrv-all.mq.svc:8080"}),
    ],
)
def test_properties(spec: dict[str, Any], expected: dict[str, str]) -> None:
    assert expected.items() <= properties(**spec).items()


def test_a_value_cannot_smuggle_in_another_line() -> None:
    text = one(built(config={"productEnvName": "a\nlistenPort=1\\"}), "ConfigMap")["data"]
    assert "productEnvName=a\\nlistenPort=1\\\\\n" in text["namesrv.properties"]


@pytest.mark.parametrize(
    "spec",
    [
        {"config": {"logLevel": "debug"}},
        {"tls": TLS},
        {"access": TOKEN},
        {"image": "other:1"},
        {"version": "9"},
        {"resources": {"limits": {"memory": "1Gi"}}},
        {"kv": {"persistence": "None"}},
        {"placement": {"nodeSelector": {"a": "b"}}},
        {"podTemplate": {"metadata": {"labels": {"a": "b"}}}},
        {"imagePullSecrets": [{"name": "a"}]},
    ],
)
def test_an_edit_reaches_the_pods(spec: dict[str, Any]) -> None:
    assert rolled(**spec) != rolled()


@pytest.mark.parametrize(
    "spec",
    [
        {"replicas": 5},
        {"exposure": {"type": "NodePort"}},
        {"warmup": {"expectedBrokers": ["a"]}},
        {"disruption": {"enabled": False}},
        {"monitoring": {"podMonitor": True}},
        {"networkPolicy": {"enabled": False}},
        {"access": {"brokerNamespaces": ["*"]}},
        {"report": {}},
    ],
)
def test_an_edit_that_does_not_concern_pods_rolls_nothing(spec: dict[str, Any]) -> None:
    assert rolled(**spec) == rolled()


def test_a_fresh_name_server_waits_for_every_group_and_a_new_broker_rolls_nothing() -> None:
    asked = cluster(warmup={"expectedBrokers": ["outside"]})
    alone = name_servers(asked, CONTEXT)
    joined = name_servers(asked, CONTEXT, [broker(groups=2), broker("b", clusterName="C")])
    expected = one(joined, "ConfigMap")["data"]["expectedBrokers"]
    assert expected == "C/b-0,DefaultCluster/orders-0,DefaultCluster/orders-1,outside"
    assert one(alone, "Deployment") == one(joined, "Deployment")


def test_pods_are_confined() -> None:
    spec = pod(one(built(), "Deployment"))
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    for each in (*spec["containers"], *spec["initContainers"]):
        assert each["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        }


def test_secrets_are_mounted_and_never_copied() -> None:
    objects = built(tls=TLS, access={"httpTokenSecret": {"name": "tokens", "key": "t"}})
    volumes = {v["name"]: v for v in pod(one(objects, "Deployment"))["volumes"]}
    assert volumes["tls"] == {"name": "tls", "secret": {"secretName": "cert"}}
    assert volumes["http-tokens"]["secret"] == {
        "secretName": "tokens",
        "items": [{"key": "t", "path": "tokens"}],
    }
    assert "Secret" not in {o["kind"] for o in objects}


@pytest.mark.parametrize(
    ("image", "version", "expected"),
    [
        (None, None, "signpost/namesrv:0.1.0"),
        (None, "2", "signpost/namesrv:2"),
        ("r.example:5000/n", None, "r.example:5000/n:0.1.0"),
        ("r.example:5000/n:3", None, "r.example:5000/n:3"),
        ("n@sha256:aa", None, "n@sha256:aa"),
    ],
)
def test_the_image(image: str | None, version: str | None, expected: str) -> None:
    given = {k: v for k, v in (("image", image), ("version", version)) if v}
    deployment = one(built(**given), "Deployment")
    assert {c["image"] for c in pod(deployment)["containers"]} == {expected}


def test_a_pod_monitor_only_where_it_is_asked_for_and_known() -> None:
    asked = cluster(monitoring={"podMonitor": True, "labels": {"release": "p"}})
    monitor = one(name_servers(asked, CONTEXT), "PodMonitor")
    assert monitor["metadata"]["labels"]["release"] == "p"
    for made in (built(), name_servers(asked, Context(version="1"))):
        assert "PodMonitor" not in {o["kind"] for o in made}


def test_metrics_are_read_with_the_token_where_reading_needs_it() -> None:
    closed = built(monitoring={"podMonitor": True}, access=TOKEN | {"httpReadsNeedToken": True})
    (endpoint,) = one(closed, "PodMonitor")["spec"]["podMetricsEndpoints"]
    assert endpoint["authorization"] == {"credentials": {"name": "tokens", "key": "token"}}


def test_the_network_policy_lets_our_own_in_whoever_else_may_not() -> None:
    everybody = one(built(), "NetworkPolicy")["spec"]
    assert [set(rule) for rule in everybody["ingress"]] == [{"ports"}, {"ports"}]
    few = [{"podSelector": {"matchLabels": {"app": "shop"}}}]
    closed = one(built(networkPolicy={"clients": few, "httpClients": few}), "NetworkPolicy")["spec"]
    remoting, http = closed["ingress"]
    roles = [p["podSelector"]["matchLabels"].get(names.ROLE) for p in remoting["from"]]
    assert roles == [None, "broker"]
    assert {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "signpost"}}} in (
        http["from"]
    )


def test_an_override_is_laid_over_the_template() -> None:
    over = {
        "containers": [{"name": "name-server", "env": [{"name": "A", "value": "1"}]}],
        "hostNetwork": True,
        "topologySpreadConstraints": None,
    }
    spec = pod(one(built(podTemplate={"spec": over}), "Deployment"))
    assert spec["hostNetwork"] is True
    assert "topologySpreadConstraints" not in spec
    assert environment(spec["containers"][0])["A"] == "1"
    assert "SIGNPOST_EXPECTED_BROKERS" in environment(spec["containers"][0])


def test_labels_that_selectors_need_cannot_be_overridden() -> None:
    labels = {names.ROLE: "mine", "team": "a"}
    template = one(built(podTemplate={"metadata": {"labels": labels}}), "Deployment")["spec"]
    assert template["selector"]["matchLabels"].items() <= (
        template["template"]["metadata"]["labels"].items()
    )


def test_the_copy_of_kv_outlives_its_cluster_unless_asked() -> None:
    text = kv_file({"NS": {"b": "2", "a": "1"}})
    assert text == '{"configTable":{"NS":{"a":"1","b":"2"}}}'
    kept = kv_map(cluster(), text)
    assert kept is not None
    assert "ownerReferences" not in kept["metadata"]
    gone = kv_map(cluster(kv={"onDelete": "Delete"}), text)
    assert gone is not None
    assert gone["metadata"]["ownerReferences"][0]["controller"] is False
    assert kv_map(cluster(kv={"persistence": "None"}), text) is None


def test_new_pods_start_from_the_copy() -> None:
    deployment = one(built(), "Deployment")
    assert container(deployment, "kv")["command"][:2] == ["python3", "-c"]
    without = pod(one(built(kv={"persistence": "None"}), "Deployment"))
    assert "initContainers" not in without
    assert "kv" not in {volume["name"] for volume in without["volumes"]}
