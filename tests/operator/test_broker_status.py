"""What a Broker's status says."""

from dataclasses import replace
from typing import Any

import pytest

from signpost_operator.facts import BrokerFacts, Failure, Group, Workload
from signpost_operator.resources import BrokerStatus
from signpost_operator.status import Told, broker_status
from tests.operator.made import broker

T1 = "2026-01-01T00:00:00Z"
SERVING = Group(
    "orders-0",
    Workload(wanted=1, replicas=1, ready=1, updated=1),
    writable=True,
    known_to=3,
    addresses=("10.0.1.1:10911",),
)
FINE = BrokerFacts(groups=(SERVING,), name_servers=3)


def told(facts: BrokerFacts, before: dict[str, Any] | None = None, **spec: Any) -> Told:
    return broker_status(broker(**spec), before or {}, facts, T1)


def condition(status: dict[str, Any], kind: str) -> tuple[str, str]:
    (found,) = [c for c in status["conditions"] if c["type"] == kind]
    return found["status"], found["reason"]


HALF = replace(SERVING, workload=Workload(wanted=2, replicas=2, ready=1, updated=2))
LEAVING = replace(FINE, groups=(SERVING, replace(SERVING, name="orders-1", leaving=True)))
BROKER_CASES = [
    (BrokerFacts(), "Ready", "False", "NotAllReady"),
    (BrokerFacts(), "Progressing", "True", "Creating"),
    (FINE, "Ready", "True", "AllReady"),
    (FINE, "Progressing", "False", "Settled"),
    (FINE, "Degraded", "False", "Sound"),
    (replace(FINE, groups=(replace(SERVING, known_to=2),)), "Ready", "False", "NotRegistered"),
    (replace(FINE, name_servers=None), "Ready", "True", "AllReady"),
    (replace(FINE, groups=(HALF,)), "Ready", "False", "NotAllReady"),
    (replace(FINE, groups=(replace(SERVING, trouble="x"),)), "Degraded", "True", "PodsFailing"),
    (LEAVING, "Ready", "True", "AllReady"),
    (LEAVING, "Progressing", "True", "Draining"),
    (replace(FINE, held_back="the last one"), "Degraded", "True", "HeldBack"),
    (replace(FINE, waiting_for_addresses=("p",)), "Progressing", "True", "WaitingForAddresses"),
    (replace(FINE, paused=True), "Progressing", "False", "Paused"),
    (replace(FINE, failure=Failure("ApplyFailed", "no")), "Degraded", "True", "ApplyFailed"),
]


@pytest.mark.parametrize(("facts", "kind", "status", "reason"), BROKER_CASES)
def test_conditions_of_a_broker(facts: BrokerFacts, kind: str, status: str, reason: str) -> None:
    assert condition(told(facts).status, kind) == (status, reason)


def test_a_brokers_status() -> None:
    status = told(FINE).status
    BrokerStatus.model_validate(status)
    assert (status["groups"], status["readyGroups"], status["ready"]) == (1, 1, "1/1")
    assert (status["version"], status["summary"]) == ("5.3.3", "serving")
    assert status["groupStatus"] == [
        {
            "name": "orders-0",
            "replicas": 1,
            "readyReplicas": 1,
            "phase": "Serving",
            "writable": True,
            "knownTo": "3/3",
            "addresses": ["10.0.1.1:10911"],
        }
    ]


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("apache/rocketmq:5.3.3", "5.3.3"),
        ("r.example:5000/b", "latest"),
        ("b@sha256:0123456789abcdef0123", "sha256:0123456789ab"),
        ("b:1@sha256:01", "1"),
    ],
)
def test_the_version_in_a_status(image: str, version: str) -> None:
    assert told(FINE, image=image).status["version"] == version


@pytest.mark.parametrize(
    ("group", "phase"),
    [
        (SERVING, "Serving"),
        (replace(SERVING, leaving=True), "Draining"),
        (replace(SERVING, workload=None), "Starting"),
        (replace(SERVING, trouble="x"), "Failing"),
        (HALF, "Starting"),
        (replace(SERVING, workload=Workload(2, replicas=2, ready=2, updated=1)), "Updating"),
        (replace(SERVING, workload=Workload(0)), "Stopped"),
    ],
)
def test_phases_of_a_group(group: Group, phase: str) -> None:
    (found,) = told(replace(FINE, groups=(group,))).status["groupStatus"]
    assert found["phase"] == phase
