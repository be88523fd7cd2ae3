"""Examples and the chart's sample are specs that the operator takes."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from signpost_operator.desired import brokers, name_servers, refusal, report
from signpost_operator.resources import Broker, NameServerCluster, parse
from tests.operator.made import CONTEXT

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))


def documents(path: Path) -> list[dict[str, Any]]:
    found = list(yaml.safe_load_all(path.read_text()))
    for each in found:
        each["metadata"].setdefault("namespace", "default")
    return found


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_can_be_carried_out(path: Path) -> None:
    clusters = {
        (made.namespace, made.name): made
        for other in EXAMPLES
        for each in documents(other)
        if each["kind"] == "NameServerCluster"
        for made in [parse(NameServerCluster, each)]
    }
    for each in documents(path):
        if each["kind"] == "NameServerCluster":
            made = parse(NameServerCluster, each)
            assert name_servers(made, CONTEXT) + report(made, CONTEXT)
        else:
            broker = parse(Broker, each)
            named = broker.spec.name_server_cluster
            cluster = clusters[named.namespace or broker.namespace, named.name]
            assert refusal(broker, cluster) == ""
            assert brokers(broker, cluster, CONTEXT, {})


def test_the_quickstart_is_what_it_says() -> None:
    cluster, broker = documents(EXAMPLES[-2])
    assert EXAMPLES[-2].stem == "quickstart"
    assert cluster["spec"]["replicas"] == 3
    assert (broker["spec"]["groups"], broker["spec"]["sidecar"]["mode"]) == (2, "Declared")
