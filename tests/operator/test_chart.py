"""The chart, by Helm itself; skipped, loudly, where there is none."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from signpost_operator.desired import Manifest, brokers, name_servers, report
from signpost_operator.resources import Broker, NameServerCluster, parse
from signpost_operator.settings import load
from tests.cluster import binaries
from tests.operator.made import CONTEXT, broker, cluster

CHART = Path(__file__).parents[2] / "charts" / "signpost"
CUSTOM = "signpost.dev/v1alpha1"
# The first run may have to build Helm.
pytestmark = pytest.mark.timeout(1800)


@pytest.fixture(scope="module")
def helm() -> str:
    """Built into the cache by whoever needs it first."""
    try:
        return str(binaries.helm())
    except binaries.UnavailableError as error:
        pytest.skip(f"NOT TRIED: {error}")


def run(helm: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([helm, *words], capture_output=True, text=True, timeout=60)


def rendered(helm: str, *words: str) -> list[Manifest]:
    command = ["template", "sp", str(CHART), "--namespace=ops", "--kube-version=1.30.0", *words]
    done = run(helm, *command)
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def of(objects: list[Manifest], kind: str) -> list[Manifest]:
    return [each for each in objects if each["kind"] == kind]


def test_lint(helm: str) -> None:
    done = run(helm, "lint", "--strict", str(CHART))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("replicas=two", "got string, want integer"),
        ("image.pullPolcy=Never", "additional properties 'pullPolcy' not allowed"),
        ("settings.logLevel=loud", "one of"),
        ("namespaces={Not_A_Name}", "does not match"),
    ],
)
def test_a_bad_value_is_refused(helm: str, value: str, words: str) -> None:
    done = run(helm, "template", str(CHART), "--kube-version=1.30.0", "--set", value)
    assert done.returncode != 0
    assert words in done.stderr


def test_in_all_namespaces_or_in_some(helm: str) -> None:
    everywhere, some = rendered(helm), rendered(helm, "--set=namespaces={a,b}")
    names = {each["metadata"]["name"] for each in of(everywhere, "ClusterRoleBinding")}
    assert names == {"sp-signpost"}
    assert not of(some, "ClusterRole")
    assert not of(some, "ClusterRoleBinding")
    assert [
        each["metadata"]["namespace"]
        for each in of(some, "Role")
        if each["metadata"]["name"] == "sp-signpost"
    ] == ["a", "b"]
    (role,) = [r for r in of(everywhere, "ClusterRole") if r["metadata"]["name"] == "sp-signpost"]
    assert role["rules"] == next(
        r["rules"] for r in of(some, "Role") if r["metadata"]["name"] == "sp-signpost"
    )


def test_the_definitions_stay_unless_asked(helm: str) -> None:
    kept = of(rendered(helm), "CustomResourceDefinition")
    assert len(kept) == 3
    for each in kept:
        assert each["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    gone = of(rendered(helm, "--set=crds.keep=false"), "CustomResourceDefinition")
    assert not any("annotations" in each["metadata"] for each in gone)
    assert not of(rendered(helm, "--set=crds.install=false"), "CustomResourceDefinition")


def allowed(rules: list[dict[str, Any]], group: str, resource: str, verb: str) -> bool:
    return any(
        group in rule["apiGroups"] and resource in rule["resources"] and verb in rule["verbs"]
        for rule in rules
    )


def rules(helm: str, *words: str) -> list[dict[str, Any]]:
    roles = of(rendered(helm, *words), "ClusterRole")
    found = next(each["rules"] for each in roles if each["metadata"]["name"] == "sp-signpost")
    assert isinstance(found, list)
    return found


def built() -> list[Manifest]:
    made = cluster(report={}, monitoring={"podMonitor": True})
    asked = broker(sidecar={"discovery": "EndpointSlices"}, advertise={"type": "LoadBalancer"})
    return [
        *name_servers(made, CONTEXT),
        *report(made, CONTEXT),
        *brokers(asked, made, CONTEXT, {}),
    ]


def plural(kind: str) -> str:
    return kind.lower().removesuffix("y") + ("ies" if kind.endswith("y") else "s")


def test_the_operator_may_make_all_that_it_builds(helm: str) -> None:
    given = rules(helm)
    for each in built():
        group = each["apiVersion"].rpartition("/")[0]
        for verb in ("get", "list", "watch", "create", "patch"):
            assert allowed(given, group, plural(each["kind"]), verb), (each["kind"], verb)


def test_the_operator_holds_every_right_that_it_passes_on(helm: str) -> None:
    given = rules(helm)
    for each in of(built(), "Role"):
        for rule in each["rules"]:
            for resource in rule["resources"]:
                for verb in rule["verbs"]:
                    assert allowed(given, rule["apiGroups"][0], resource, verb), rule


def test_the_operator_may_no_more_than_it_needs(helm: str) -> None:
    for rule in rules(helm):
        assert "*" not in (*rule["apiGroups"], *rule["resources"], *rule["verbs"])
        assert not {"secrets", "nodes", "namespaces", "pods/exec"} & set(rule["resources"])
        assert not {"escalate", "bind", "impersonate"} & set(rule["verbs"])
    assert not allowed(rules(helm), "", "pods", "create")
    assert allowed(rules(helm, "--set=rbac.sparkExecutors=true"), "", "pods", "create")


def test_the_operators_own_pod(helm: str) -> None:
    (deployment,) = of(rendered(helm, "--set=image.tag=v9,namespaces={a,b}"), "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "signpost/operator:v9"
    settings = load(container["args"], {"POD_NAMESPACE": "ops", "POD_NAME": "sp-1"})
    assert settings.namespaces == ("a", "b")
    assert (settings.version, settings.image) == ("v9", "signpost/namesrv")
    assert (settings.lease_name, settings.operator_namespace) == ("sp-signpost", "ops")
    assert container["securityContext"]["readOnlyRootFilesystem"] is True


def test_the_sample_is_a_spec_that_the_operator_takes(helm: str) -> None:
    objects = rendered(helm, "--set=sample.enabled=true", f"--api-versions={CUSTOM}")
    (made,) = of(objects, "NameServerCluster")
    (stand_in,) = of(objects, "Broker")
    assert parse(NameServerCluster, made).spec.replicas == 3
    assert parse(Broker, stand_in).spec.groups == 2
    assert not of(rendered(helm, "--set=sample.enabled=true"), "Broker")
