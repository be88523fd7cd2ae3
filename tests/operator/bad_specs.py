"""Specs that are refused, and the words that say why: by the API server and by the operator."""

from typing import Any

CLUSTER = "NameServerCluster"
BROKER = "Broker"
TO = {"nameServerCluster": {"name": "routes"}}

RULES: list[tuple[str, dict[str, Any], str]] = [
    (CLUSTER, {"config": {"listenPort": 1}}, "listenPort is set by the operator"),
    (CLUSTER, {"config": {"tls.server.mode": "enforcing"}}, "set tls.mode"),
    (CLUSTER, {"exposure": {"nodePort": 30000}}, "nodePort needs type NodePort"),
    (CLUSTER, {"exposure": {"loadBalancerClass": "x"}}, "loadBalancerClass needs type"),
    (
        CLUSTER,
        {"exposure": {"loadBalancerSourceRanges": ["10.0.0.0/8"]}},
        "loadBalancerSourceRanges needs type LoadBalancer",
    ),
    (CLUSTER, {"exposure": {"port": 8080}}, "port and httpPort are the same"),
    (CLUSTER, {"image": "r.example:5000/n:1", "version": "2"}, "leave version out"),
    (CLUSTER, {"image": "n@sha256:aa", "version": "2"}, "leave version out"),
    (CLUSTER, {"access": {"adminCertNames": ["a"]}}, "set tls.clientAuth"),
    (CLUSTER, {"access": {"httpReadsNeedToken": True}}, "set httpTokenSecret"),
    (
        CLUSTER,
        {"networkPolicy": {"clients": [{"ipBlock": {"cidr": "::/0"}, "podSelector": {}}]}},
        "ipBlock stands alone",
    ),
    (BROKER, TO | {"config": {"brokerId": 3}}, "brokerId is set by the operator"),
    (BROKER, TO | {"sidecar": {"mode": "Declared"}}, "mode Declared needs topics"),
    (BROKER, TO | {"sidecar": {"topics": [{"name": "a"}]}}, "topics are only for mode Declared"),
    (BROKER, TO | {"command": ["run"]}, "command is for mode Declared"),
    (
        BROKER,
        TO | {"advertise": {"type": "NodePort", "nodePortBase": 30100}},
        "NodePort needs host",
    ),
    (BROKER, TO | {"advertise": {"type": "NodePort", "host": "n"}}, "nodePortBase belongs to"),
    (BROKER, TO | {"advertise": {"host": "n"}}, "host is only for NodePort"),
    (BROKER, TO | {"advertise": {"loadBalancerClass": "x"}}, "loadBalancerClass needs type"),
    (
        BROKER,
        {
            "nameServerCluster": {"name": "routes", "namespace": "other"},
            "sidecar": {"discovery": "EndpointSlices"},
        },
        "leave nameServerCluster.namespace",
    ),
]
"""Refused by a rule, in the same words on both sides."""

CHANGES: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    (BROKER, TO, {"nameServerCluster": {"name": "b"}}, "stays with its NameServerCluster"),
    (BROKER, TO, TO | {"clusterName": "Another"}, "clusterName cannot change"),
    (BROKER, TO, TO | {"storage": {"size": "1Gi"}}, "volumes can only grow"),
    (BROKER, TO, TO | {"storage": {"type": "Ephemeral"}}, "cannot be moved to other storage"),
    (BROKER, TO, TO | {"storage": {"storageClassName": "x"}}, "cannot be moved to other storage"),
]
"""Good by themselves, and refused as a change; only the API server knows what was before."""

SLIPPED: list[tuple[str, dict[str, Any], str]] = [
    (CLUSTER, {"replicas": 99}, "spec.replicas (99): input should be less than or equal to 50"),
    (CLUSTER, {"replica": 1}, "spec.replica (1): is not a field here; did you mean replicas?"),
    (CLUSTER, {"tls": {}}, "spec.tls.secretName: is missing; add it"),
    (CLUSTER, {"resources": {"limits": {"memory": "lots"}}}, "an amount such as 500m or 2Gi"),
    (CLUSTER, {"config": {"maxConnections": "many"}}, "'many' is not a whole number"),
    (CLUSTER, {"config": {"maxConnections": 0}}, "0 is not a whole number from 1"),
    (CLUSTER, {"config": {"logLevel": "loud"}}, "'loud' is not one of"),
    (CLUSTER, {"config": {"enableTopicList": "yes"}}, "'yes' is not true or false"),
    (CLUSTER, {"config": {"maxConection": 1}}, "did you mean maxConnections?"),
    (BROKER, {}, "spec.nameServerCluster: is missing"),
    (BROKER, TO | {"config": {"a key": "b"}}, "'a key' is no key of broker.conf"),
    (BROKER, TO | {"config": {"key": "a\nbrokerId=1"}}, "key: a value is one line"),
    (BROKER, TO | {"groups": "two"}, "give a whole number"),
]
"""What reaches an operator when the schema is older, or cannot tell; in the operator's words."""
