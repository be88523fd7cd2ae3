"""What a status says, and which events go with it."""

from dataclasses import replace
from typing import Any

import pytest

from signpost_operator.facts import (
    Change,
    ClusterFacts,
    Failure,
    NameServer,
    Report,
    Workload,
)
from signpost_operator.resources import NameServerClusterStatus
from signpost_operator.status import Told, cluster_status, refused_status
from tests.operator.made import cluster

T1, T2 = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
SETTLED = Workload(wanted=3, replicas=3, ready=3, updated=3)


def server(number: int, **given: Any) -> NameServer:
    known: dict[str, Any] = {"ip": f"10.0.0.{number}", "ready": True, "version": "1", "digest": "d"}
    return NameServer(f"routes-{number}", **(known | {"brokers": 2, "topics": 9} | given))


ROLLING = Workload(wanted=3, replicas=4, ready=3, updated=1)
SERVERS = (server(1), server(2), server(3))
GOOD = ClusterFacts(workload=SETTLED, name_servers=SERVERS, agreement="same")


def told(facts: ClusterFacts, before: dict[str, Any] | None = None, now: str = T1) -> Told:
    return cluster_status(cluster(report={}), before or {}, facts, now)


def condition(status: dict[str, Any], kind: str) -> tuple[str, str]:
    (found,) = [c for c in status["conditions"] if c["type"] == kind]
    return found["status"], found["reason"]


CLUSTER_CASES = [
    (ClusterFacts(), "Ready", "False", "NotCreated"),
    (ClusterFacts(), "Progressing", "True", "Creating"),
    (GOOD, "Ready", "True", "AllReady"),
    (GOOD, "Progressing", "False", "Settled"),
    (GOOD, "Degraded", "False", "Sound"),
    (GOOD, "RoutesConsistent", "True", "Agree"),
    (GOOD, "RouteHealthy", "Unknown", "Awaited"),
    (replace(GOOD, workload=replace(SETTLED, ready=2)), "Ready", "False", "NotAllReady"),
    (replace(GOOD, workload=replace(SETTLED, ready=2)), "Progressing", "True", "Starting"),
    (replace(GOOD, workload=replace(SETTLED, current=False)), "Ready", "False", "NotAllReady"),
    (replace(GOOD, workload=replace(SETTLED, current=False)), "Progressing", "True", "Applying"),
    (
        replace(GOOD, workload=ROLLING),
        "Progressing",
        "True",
        "RollingOut",
    ),
    (
        replace(GOOD, workload=ROLLING),
        "Ready",
        "True",
        "AllReady",
    ),
    (replace(GOOD, workload=replace(SETTLED, replicas=5)), "Progressing", "True", "ScalingDown"),
    (replace(GOOD, workload=replace(SETTLED, stuck="no room")), "Degraded", "True", "RolloutStuck"),
    (replace(GOOD, workload=replace(SETTLED, stuck="no room")), "Progressing", "False", "Stuck"),
    (replace(GOOD, paused=True), "Progressing", "False", "Paused"),
    (replace(GOOD, failure=Failure("ApplyFailed", "no")), "Degraded", "True", "ApplyFailed"),
    (
        replace(GOOD, name_servers=(server(1, trouble="ImagePullBackOff"),)),
        "Degraded",
        "True",
        "PodsFailing",
    ),
    (
        replace(GOOD, name_servers=(server(1, silence="no"),)),
        "Degraded",
        "True",
        "NotAnswering",
    ),
    (replace(GOOD, agreement="differ"), "RoutesConsistent", "False", "Disagree"),
    (replace(GOOD, agreement="settling"), "RoutesConsistent", "Unknown", "Settling"),
    (replace(GOOD, agreement="unknown"), "RoutesConsistent", "Unknown", "NotAsked"),
    (replace(GOOD, report=Report("Healthy", "", T1)), "RouteHealthy", "True", "Healthy"),
    (replace(GOOD, report=Report("Degraded", "x", T1)), "RouteHealthy", "False", "Degraded"),
    (replace(GOOD, report=Report("Critical", "x", T1)), "RouteHealthy", "False", "Critical"),
]


@pytest.mark.parametrize(("facts", "kind", "status", "reason"), CLUSTER_CASES)
def test_conditions_of_a_cluster(facts: ClusterFacts, kind: str, status: str, reason: str) -> None:
    assert condition(told(facts).status, kind) == (status, reason)


def test_a_cluster_without_name_servers_or_report() -> None:
    status = cluster_status(cluster(replicas=0), {}, GOOD, T1).status
    assert condition(status, "Ready") == ("False", "ScaledToZero")
    assert condition(status, "RouteHealthy") == ("Unknown", "NoReport")


def test_a_status_fits_its_schema() -> None:
    full = replace(
        GOOD,
        name_servers=(*SERVERS, NameServer("new", trouble="pulling")),
        external="203.0.113.1:9876",
        report=Report("Critical", "x" * 5000, T1),
    )
    status = told(full).status
    parsed = NameServerClusterStatus.model_validate(status)
    assert (parsed.ready, parsed.brokers, parsed.topics, parsed.version) == ("3/3", 2, 9, "1")
    assert parsed.addresses is not None
    assert parsed.addresses.internal == "routes-namesrv.mq.svc:9876"
    assert parsed.addresses.external == "203.0.113.1:9876"


def test_a_disagreement_names_what_it_is_about_and_stays_short() -> None:
    facts = replace(
        GOOD,
        agreement="differ",
        differing_topics=tuple(f"topic-{n}" for n in range(10_000)),
        differing_brokers=("orders-0",),
    )
    message = next(
        c["message"] for c in told(facts).status["conditions"] if c["type"] == "RoutesConsistent"
    )
    assert message.startswith("name servers disagree about topics topic-0, topic-1")
    assert "and 9995 more and brokers orders-0" in message


def test_a_change_on_its_way_turns_nothing() -> None:
    for facts in (GOOD, replace(GOOD, agreement="differ")):
        before = told(facts).status
        after = told(replace(GOOD, agreement="settling"), before, T2).status
        assert after["conditions"] == before["conditions"]


def test_time_stands_still_while_nothing_turns() -> None:
    before = told(GOOD).status
    again = told(GOOD, before, T2)
    assert again.status == before
    assert again.events == ()
    worse = told(replace(GOOD, agreement="differ"), before, T2).status
    times = {c["type"]: c["lastTransitionTime"] for c in worse["conditions"]}
    assert times["RoutesConsistent"] == T2
    assert times["Ready"] == T1


def test_conditions_tell_which_spec_they_are_about() -> None:
    status = told(GOOD).status
    assert status["observedGeneration"] == 7
    assert {c["observedGeneration"] for c in status["conditions"]} == {7}


STORY = [
    (
        ClusterFacts(changes=(Change("created", "Service", "a"),)),
        ["Created"],
    ),
    (replace(GOOD, agreement="unknown"), ["AllReady", "Settled"]),
    (GOOD, ["Agree"]),
    (GOOD, []),
    (replace(GOOD, workload=replace(SETTLED, current=False)), ["NotAllReady", "Applying"]),
    (replace(GOOD, workload=Workload(3, replicas=4, ready=2, updated=1)), []),
    (replace(GOOD, workload=ROLLING), ["AllReady"]),
    (GOOD, ["Settled"]),
    (replace(GOOD, paused=True), ["Paused"]),
    (replace(GOOD, paused=True), []),
    (GOOD, []),
    (replace(GOOD, agreement="settling"), []),
    (replace(GOOD, agreement="differ", differing_topics=("t",)), ["Disagree"]),
    (replace(GOOD, agreement="differ", differing_topics=("t", "u")), []),
    (GOOD, ["Agree"]),
    (replace(GOOD, changes=(Change("repaired", "Service", "a", "spec.type"),)), ["Repaired"]),
    (replace(GOOD, report=Report("Critical", "bad", T1)), ["Critical"]),
    (replace(GOOD, report=Report("Critical", "worse", T2)), []),
    (replace(GOOD, report=Report("Healthy", "", T2)), ["Healthy"]),
]


def test_every_decision_is_told_once() -> None:
    status: dict[str, Any] = {}
    for number, (facts, reasons) in enumerate(STORY):
        result = told(facts, status)
        assert [event.reason for event in result.events] == reasons, number
        status = result.status


def test_only_trouble_is_a_warning() -> None:
    before = told(GOOD).status
    good = told(replace(GOOD, report=Report("Healthy", "", T1)), before)
    assert {event.type for event in good.events} <= {"Normal"}
    bad = told(replace(GOOD, failure=Failure("ApplyFailed", "no")), before)
    assert [(event.type, event.message) for event in bad.events] == [("Warning", "no")]


@pytest.mark.parametrize(
    ("facts", "summary"),
    [
        (GOOD, "serving"),
        (replace(GOOD, paused=True), "paused; serving"),
        (replace(GOOD, workload=replace(SETTLED, ready=1)), "1 of 3 name servers are ready"),
        (replace(GOOD, failure=Failure("X", "y" * 500)), "y" * 117 + "..."),
        (
            replace(GOOD, agreement="differ", differing_topics=("t",)),
            "name servers disagree about topics t",
        ),
    ],
)
def test_the_story_in_one_line(facts: ClusterFacts, summary: str) -> None:
    assert told(facts).status["summary"] == summary


def test_a_refused_spec_keeps_what_was_known_and_warns_once() -> None:
    before = told(GOOD).status
    first = refused_status(before, 8, "spec.replicas: no", T2)
    assert condition(first.status, "Ready") == ("False", "InvalidSpec")
    assert condition(first.status, "RoutesConsistent") == ("True", "Agree")
    assert (first.status["readyReplicas"], first.status["observedGeneration"]) == (3, 8)
    assert [event.type for event in first.events] == ["Warning"]
    assert refused_status(first.status, 8, "spec.replicas: no", T2) == Told(first.status, ())
