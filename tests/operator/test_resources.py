import json
from typing import Any

import pytest

from signpost_operator.resources import Broker, NameServerCluster, SpecError, parse
from tests.operator import bad_specs
from tests.operator.made import body, broker, cluster

KINDS: dict[str, Any] = {"NameServerCluster": NameServerCluster, "Broker": Broker}


@pytest.mark.parametrize(("kind", "spec", "words"), bad_specs.RULES + bad_specs.SLIPPED)
def test_a_bad_spec_is_refused_in_words(kind: str, spec: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse(KINDS[kind], body("a", spec))
    assert words in str(caught.value)


@pytest.mark.parametrize(("kind", "before", "after", "words"), bad_specs.CHANGES)
def test_what_is_only_bad_as_a_change_is_read(
    kind: str, before: dict[str, Any], after: dict[str, Any], words: str
) -> None:
    assert parse(KINDS[kind], body("a", before))
    assert parse(KINDS[kind], body("a", after))


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(SpecError) as caught:
        cluster(replicas=99, exposure={"nodePort": 1}, tls={})
    fields = [problem.field for problem in caught.value.problems]
    assert fields == ["spec.replicas", "spec.tls.secretName", "spec.exposure"]


def test_a_long_value_is_cut() -> None:
    with pytest.raises(SpecError) as caught:
        cluster(replicas="x" * 10_000)
    assert len(str(caught.value)) < 300


def test_defaults() -> None:
    spec = cluster().spec
    assert (spec.replicas, spec.warmup.wait_seconds, spec.exposure.type) == (3, 45, "ClusterIP")
    assert broker().spec.image == "apache/rocketmq:5.3.3"


def test_a_resource_is_frozen_and_comes_back_as_it_was_written() -> None:
    spec: dict[str, Any] = {
        "replicas": 5,
        "tls": {"secretName": "s"},
        "config": {"logLevel": "debug"},
    }
    made = cluster(**spec)
    with pytest.raises(Exception, match="frozen"):
        made.spec.replicas = 3
    written = json.loads(json.dumps(made.spec.to_dict()))
    assert parse(NameServerCluster, body("routes", written)) == made


def test_what_kubernetes_puts_beside_the_spec_is_read() -> None:
    given = body("a", {})
    given["metadata"] |= {"annotations": {"signpost.dev/paused": "true"}, "labels": {"x": "y"}}
    found = parse(NameServerCluster, given | {"status": {"replicas": 3}})
    assert found.annotations == {"signpost.dev/paused": "true"}
    assert found.generation == 7
