"""What a Broker becomes."""

import json
from typing import Any

import pytest
import yaml

from signpost_operator import names
from signpost_operator.desired import Manifest, brokers, refusal
from tests.operator.made import CONTEXT, broker, cluster, container, environment, kinds, one, pod

DECLARED = {"mode": "Declared", "topics": [{"name": "t", "readQueues": 2}]}
NODE_PORT = {"type": "NodePort", "nodePortBase": 30100, "host": "nodes.example"}


def built(hosts: dict[str, str] | None = None, **spec: Any) -> list[Manifest]:
    return brokers(broker(**spec), cluster(), CONTEXT, hosts or {})


def conf(objects: list[Manifest], group: int = 0, ordinal: int = 0) -> dict[str, str]:
    text = one(objects, "ConfigMap", f"orders-{group}")["data"][f"broker-{ordinal}.conf"]
    return dict(line.split("=", 1) for line in text.splitlines())


def declared(objects: list[Manifest], group: int = 0, ordinal: int = 0) -> dict[str, Any]:
    text = one(objects, "ConfigMap", f"orders-{group}")["data"][f"declared-{ordinal}.yaml"]
    (found,) = yaml.safe_load(text)["brokers"]
    assert isinstance(found, dict)
    return found


def template(**spec: Any) -> str:
    found = one(built(**spec), "StatefulSet", "orders-0")["spec"]["template"]
    return json.dumps(found, sort_keys=True)


def test_the_objects_of_two_groups() -> None:
    assert kinds(built(groups=2)) == [
        "ServiceAccount/orders-brokers",
        "Service/orders-brokers",
        "NetworkPolicy/orders-brokers",
        "PodDisruptionBudget/orders-brokers",
        "ConfigMap/orders-0",
        "StatefulSet/orders-0",
        "ConfigMap/orders-1",
        "StatefulSet/orders-1",
    ]


def test_a_pods_number_is_its_broker_id() -> None:
    objects = built(replicasPerGroup=2, groups=2)
    assert conf(objects, 1, 0)["brokerName"] == "orders-1"
    assert conf(objects, 1, 0)["brokerId"] == "0"
    assert conf(objects, 1, 0)["brokerRole"] == "ASYNC_MASTER"
    assert conf(objects, 1, 1)["brokerId"] == "1"
    assert conf(objects, 1, 1)["brokerRole"] == "SLAVE"
    args = container(one(objects, "StatefulSet", "orders-1"), "broker")["args"]
    assert args[-1].endswith("/broker-$(POD_INDEX).conf")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, {"namesrvAddr": "127.0.0.1:9876", "listenPort": "10911", "haListenPort": "10912"}),
        ({"config": {"autoCreateTopicEnable": False}}, {"autoCreateTopicEnable": "false"}),
        ({"replication": "Synchronous"}, {"brokerRole": "SYNC_MASTER"}),
        ({"clusterName": "C"}, {"brokerClusterName": "C"}),
        (
            {"advertise": {"type": "DNS"}},
            {"brokerIP1": "orders-0-0.orders-brokers.mq.svc"},
        ),
        (
            {"advertise": NODE_PORT},
            {
                "brokerIP1": "nodes.example",
                "brokerIP2": "orders-0-0.orders-brokers.mq.svc",
                "listenPort": "30100",
            },
        ),
    ],
)
def test_broker_conf(spec: dict[str, Any], expected: dict[str, str]) -> None:
    assert expected.items() <= conf(built(**spec)).items()


def test_each_pod_has_a_port_of_the_nodes_that_no_edit_moves() -> None:
    for replicas in (1, 3):
        objects = built(groups=2, replicasPerGroup=replicas, advertise=NODE_PORT)
        service = one(objects, "Service", "orders-1-0")["spec"]
        assert service["ports"][0]["nodePort"] == 30110
        assert service["ports"][0]["targetPort"] == 30110 == int(conf(objects, 1)["listenPort"])
        assert service["selector"] == {"statefulset.kubernetes.io/pod-name": "orders-1-0"}


def test_a_broker_waits_for_its_load_balancer() -> None:
    given: dict[str, Any] = {"replicasPerGroup": 3, "advertise": {"type": "LoadBalancer"}}
    for hosts, replicas in (
        ({}, 0),
        ({"orders-0-0": "a"}, 1),
        ({"orders-0-1": "b"}, 0),
        ({"orders-0-0": "a", "orders-0-1": "b", "orders-0-2": "c"}, 3),
    ):
        objects = built(hosts, **given)
        assert one(objects, "StatefulSet")["spec"]["replicas"] == replicas
        assert len([o for o in objects if o["kind"] == "Service"]) == 4
    assert conf(built({"orders-0-0": "lb.example"}, **given))["brokerIP1"] == "lb.example"


def test_the_sidecar_is_there_before_and_after_the_broker() -> None:
    workload = one(built(), "StatefulSet")
    assert [c["name"] for c in pod(workload)["initContainers"]] == ["sidecar"]
    sidecar = container(workload, "sidecar")
    assert sidecar["restartPolicy"] == "Always"
    assert environment(sidecar)["SIGNPOST_NAMESRV_DNS"] == "routes-namesrv-all.mq.svc:9876"


def test_a_broker_serves_until_it_is_drained_and_has_time_to_stop() -> None:
    for sidecar, command in (({}, []), (DECLARED, ["run"])):
        workload = one(
            built(sidecar=sidecar | {"drainSeconds": 50}, stopSeconds=100, command=command),
            "StatefulSet",
        )
        assert container(workload, "sidecar")["lifecycle"]["preStop"]["exec"]["command"] == [
            "signpost-sidecar",
            "drain",
        ]
        assert environment(container(workload, "sidecar"))["SIGNPOST_DRAIN_WAIT_SECONDS"] == "50"
        assert "52" in json.dumps(container(workload, "broker")["lifecycle"]["preStop"])
        assert pod(workload)["terminationGracePeriodSeconds"] > 152


def test_declared_mode() -> None:
    objects = built(
        sidecar=DECLARED, command=["run"], args=["--fast"], storage={"type": "Ephemeral"}
    )
    assert declared(objects) == {
        "cluster": "DefaultCluster",
        "name": "orders-0",
        "id": 0,
        "address": "$(POD_IP):10911",
        "topics": [{"name": "t", "readQueues": 2, "writeQueues": 4, "perm": 6}],
        "health": {"tcp": "$(POD_IP):10911"},
    }
    workload = one(objects, "StatefulSet")
    ours = container(workload, "broker")
    assert (ours["command"], ours["args"]) == (["run"], ["--fast"])
    assert "volumeClaimTemplates" not in workload["spec"]
    settings = environment(container(workload, "sidecar"))
    assert settings["SIGNPOST_DECLARED_FILE"] == "/etc/signpost/broker/declared-$(POD_INDEX).yaml"


def test_a_declared_brokers_own_check() -> None:
    check = {"port": 8080, "httpPath": "/ok"}
    objects = built(sidecar=DECLARED | {"healthCheck": check}, advertise=NODE_PORT)
    assert declared(objects)["health"] == {"http": "http://$(POD_IP):8080/ok"}
    assert declared(objects)["address"] == "nodes.example:30100"
    service = one(objects, "Service", "orders-0-0")["spec"]["ports"][0]
    assert (service["nodePort"], service["targetPort"]) == (30100, 10911)


def test_topics_of_a_declared_broker_change_without_a_restart() -> None:
    other = {"mode": "Declared", "topics": [{"name": "t"}, {"name": "u"}]}
    assert template(sidecar=DECLARED) == template(sidecar=other)


@pytest.mark.parametrize(
    "spec",
    [
        {"config": {"flushDiskType": "SYNC_FLUSH"}},
        {"image": "apache/rocketmq:5.3.4"},
        {"javaOptions": "-Xmx1g"},
        {"env": [{"name": "A", "value": "1"}]},
        {"sidecar": {"drainSeconds": 1}},
        {"advertise": {"type": "DNS"}},
        {"stopSeconds": 10},
    ],
)
def test_an_edit_reaches_the_pods(spec: dict[str, Any]) -> None:
    assert template(**spec) != template()


def test_another_replica_or_group_rolls_nobody() -> None:
    assert template(replicasPerGroup=3) == template() == template(groups=5)


def test_storage() -> None:
    given = {"size": "5Gi", "storageClassName": "fast", "onDelete": "Delete"}
    spec = one(built(storage=given), "StatefulSet")["spec"]
    (claim,) = spec["volumeClaimTemplates"]
    assert claim["spec"]["resources"] == {"requests": {"storage": "5Gi"}}
    assert claim["spec"]["storageClassName"] == "fast"
    assert spec["persistentVolumeClaimRetentionPolicy"] == {
        "whenDeleted": "Delete",
        "whenScaled": "Retain",
    }


def test_pods_are_confined() -> None:
    workload = one(built(), "StatefulSet")
    assert pod(workload)["securityContext"]["runAsNonRoot"] is True
    for each in (*pod(workload)["containers"], *pod(workload)["initContainers"]):
        assert each["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert each["securityContext"]["readOnlyRootFilesystem"] is True


def test_the_right_to_read_endpoint_slices_only_where_it_is_used() -> None:
    assert not {"Role", "RoleBinding"} & {o["kind"] for o in built()}
    objects = built(sidecar={"discovery": "EndpointSlices"})
    assert one(objects, "Role")["rules"] == [
        {
            "apiGroups": ["discovery.k8s.io"],
            "resources": ["endpointslices"],
            "verbs": ["list", "watch"],
        }
    ]
    workload = one(objects, "StatefulSet")
    assert pod(workload)["automountServiceAccountToken"] is False
    mounts = {
        each["name"]: {mount["name"] for mount in each["volumeMounts"]}
        for each in (container(workload, "sidecar"), container(workload, "broker"))
    }
    assert "token" in mounts["sidecar"]
    assert "token" not in mounts["broker"]
    found = environment(container(workload, "sidecar"))
    assert found["SIGNPOST_NAMESRV_SERVICE"] == "mq/routes-namesrv-all:9876"


def test_a_sidecar_speaks_tls_where_it_must_and_never_sees_the_servers_key() -> None:
    strict = cluster(tls={"secretName": "cert", "mode": "Enforcing"})
    workload = one(brokers(broker(), strict, CONTEXT, {}), "StatefulSet")
    volume = next(v for v in pod(workload)["volumes"] if v["name"] == "tls")
    assert volume["secret"]["items"] == [{"key": "ca.crt", "path": "ca.crt"}]
    assert environment(container(workload, "sidecar"))["SIGNPOST_TLS_ENABLE"] == "true"


def test_a_sidecar_shows_its_certificate_when_it_is_asked_for_one() -> None:
    strict = cluster(tls={"secretName": "s", "mode": "Enforcing", "clientAuth": "Require"})
    given = broker(sidecar={"tlsSecretName": "mine"})
    found = environment(
        container(one(brokers(given, strict, CONTEXT, {}), "StatefulSet"), "sidecar")
    )
    assert found["SIGNPOST_TLS_CLIENT_KEY_PATH"] == "/etc/signpost/tls/tls.key"


@pytest.mark.parametrize(
    ("where", "spec", "clusters", "words"),
    [
        ("mq", {}, {}, ""),
        ("shop", {}, {}, "access.brokerNamespaces"),
        ("shop", {}, {"access": {"brokerNamespaces": ["shop"]}}, ""),
        ("shop", {}, {"access": {"brokerNamespaces": ["*"]}}, ""),
        (
            "shop",
            {},
            {
                "access": {"brokerNamespaces": ["*"]},
                "tls": {"secretName": "s", "mode": "Enforcing"},
            },
            "takes only TLS",
        ),
        (
            "mq",
            {},
            {"tls": {"secretName": "s", "mode": "Enforcing", "clientAuth": "Require"}},
            "wants certificates of its clients",
        ),
        (
            "shop",
            {"sidecar": {"tlsSecretName": "c"}},
            {
                "access": {"brokerNamespaces": ["*"]},
                "tls": {"secretName": "s", "mode": "Enforcing", "clientAuth": "Require"},
            },
            "",
        ),
    ],
)
def test_who_may_join(
    where: str, spec: dict[str, Any], clusters: dict[str, Any], words: str
) -> None:
    found = refusal(broker(namespace=where, **spec), cluster(**clusters))
    assert (words in found) if words else (found == "")


def test_the_network_policy_names_every_port() -> None:
    rules = one(built(groups=3, advertise=NODE_PORT), "NetworkPolicy")["spec"]["ingress"]
    assert [rule["ports"] for rule in rules] == [
        [{"port": 30100, "endPort": 30129, "protocol": "TCP"}],
        [{"port": 10912, "protocol": "TCP"}],
        [{"port": 8081, "protocol": "TCP"}],
    ]


def test_pods_are_spread_within_their_group() -> None:
    spread = pod(one(built(), "StatefulSet"))["topologySpreadConstraints"]
    for each in spread:
        assert each["labelSelector"]["matchLabels"][names.GROUP_LABEL] == "orders-0"
