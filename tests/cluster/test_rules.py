"""Every rule of the definitions, in the API server's own hands and in the operator's words.

And every object that the operator builds, in a namespace of the restricted pod security profile.
"""

from typing import Any

import pytest

from signpost_operator.desired import Context, Manifest, brokers, name_servers, report
from tests.cluster.kube import Kube, RefusedError
from tests.operator import bad_specs
from tests.operator.made import broker, cluster

API = "signpost.dev/v1alpha1"
PLURALS = {"NameServerCluster": "nameserverclusters", "Broker": "brokers"}
CORE = "/api/v1"


def post(kube: Kube, namespace: str, kind: str, name: str, spec: dict[str, Any]) -> None:
    body = {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": spec}
    kube.call("POST", f"/apis/{API}/namespaces/{namespace}/{PLURALS[kind]}", body)


@pytest.mark.parametrize(("kind", "spec", "words"), bad_specs.RULES)
def test_a_bad_spec_is_refused_in_the_same_words(
    kube: Kube, namespace: str, kind: str, spec: dict[str, Any], words: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        post(kube, namespace, kind, "a", spec)
    assert words in refused.value.message


@pytest.mark.parametrize(("kind", "before", "after", "words"), bad_specs.CHANGES)
def test_a_bad_change_is_refused(
    kube: Kube,
    namespace: str,
    kind: str,
    before: dict[str, Any],
    after: dict[str, Any],
    words: str,
) -> None:
    post(kube, namespace, kind, "a", before)
    path = f"/apis/{API}/namespaces/{namespace}/{PLURALS[kind]}/a"
    with pytest.raises(RefusedError) as refused:
        kube.call("PATCH", path, {"spec": after}, "application/merge-patch+json")
    assert words in refused.value.message


@pytest.mark.parametrize(
    ("name", "words"), [("1st", "start it with a letter"), ("n" * 41, "at most 40 characters")]
)
def test_a_bad_name_is_refused(kube: Kube, namespace: str, name: str, words: str) -> None:
    with pytest.raises(RefusedError) as refused:
        post(kube, namespace, "NameServerCluster", name, {})
    assert words in refused.value.message


FULL: dict[str, Any] = {
    "tls": {"secretName": "t", "mode": "Enforcing", "clientAuth": "Require"},
    "access": {"httpTokenSecret": {"name": "tokens"}, "adminAddresses": ["10.0.0.0/8"]},
    "exposure": {"type": "LoadBalancer"},
    "networkPolicy": {
        "clients": [{"podSelector": {}}, {"ipBlock": {"cidr": "10.0.0.0/8"}}],
        "httpClients": [{"namespaceSelector": {"matchLabels": {"a": "b"}}}],
    },
    "placement": {"tolerations": [{"key": "a", "operator": "Exists"}], "topologySpread": []},
    "imagePullSecrets": [{"name": "registry"}],
    "disruption": {"maxUnavailable": "25%"},
    "report": {},
}
DECLARED = {"mode": "Declared", "topics": [{"name": "t"}]}
BROKERS: list[dict[str, Any]] = [
    {"replicasPerGroup": 2},
    {"advertise": {"type": "NodePort", "nodePortBase": 30100, "host": "n"}},
    {"advertise": {"type": "LoadBalancer"}, "sidecar": {"discovery": "EndpointSlices"}},
    {"sidecar": DECLARED, "command": ["run"], "storage": {"type": "Ephemeral"}},
    {"sidecar": {"tlsSecretName": "c"}},
]


def all_built(namespace: str) -> list[Manifest]:
    context = Context(version="1", operator_namespace="ops")
    full = cluster("full", namespace, **FULL)
    found = [*name_servers(cluster("plain", namespace), context), *name_servers(full, context)]
    found += report(full, context)
    for number, spec in enumerate(BROKERS):
        made = broker(f"b{number}", namespace, **spec)
        found += brokers(made, full if number == 4 else cluster(), context, {f"b{number}-0-0": "h"})
    return found


def as_pods(built: list[Manifest]) -> list[Manifest]:
    """What the workloads' controllers would make."""
    pods = []
    for each in built:
        if each["kind"] not in ("Deployment", "StatefulSet"):
            continue
        template, metadata = each["spec"]["template"], each["metadata"]
        claimed = [
            {"name": claim["metadata"]["name"], "emptyDir": {}}
            for claim in each["spec"].get("volumeClaimTemplates", ())
        ]
        spec = template["spec"] | {"serviceAccountName": "default"}
        spec["volumes"] = [*spec["volumes"], *claimed]
        meta = template["metadata"] | {"name": f"{metadata['name']}-p"}
        pods.append({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
    return pods


def collection(manifest: Manifest, namespace: str) -> str:
    root = "/api" if manifest["apiVersion"] == "v1" else "/apis"
    kind = manifest["kind"].lower()
    plural = f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
    return f"{root}/{manifest['apiVersion']}/namespaces/{namespace}/{plural}"


def test_everything_that_is_built_is_accepted_under_the_restricted_profile(
    kube: Kube, namespace: str
) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    live = kube.get(f"{CORE}/namespaces/{namespace}")
    live["metadata"]["labels"] = live["metadata"].get("labels", {}) | labels
    kube.call("PUT", f"{CORE}/namespaces/{namespace}", live)
    built = all_built(namespace)
    for manifest in (*built, *as_pods(built)):
        path = f"{collection(manifest, namespace)}?dryRun=All&fieldValidation=Strict"
        kube.call("POST", path, manifest)
