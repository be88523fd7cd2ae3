"""The configurations that are compared, each with the script that is read to both servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from tests.conformance.script import Script
from tests.conformance.scripts import brokers, requests, switched
from tests.conformance.scripts.rivals import rivals
from tests.conformance.scripts.walk import Walk


@dataclass(frozen=True, slots=True)
class Scenario:
    """Settings of both and of our server, and a script.

    A script may use the addresses of three listening brokers.
    """

    name: str
    script: Callable[[Sequence[str]], Script]
    settings: Mapping[str, str] = field(default_factory=dict)
    ours: Mapping[str, str] = field(default_factory=dict)


def _walk(seed: int, *, acting: bool = False) -> Script:
    return Walk(seed, acting).steps(120)


SCENARIOS = [
    Scenario(
        "each request",
        lambda _: chain(
            requests.bare(),
            requests.kv(),
            requests.routes(),
            requests.topics_by_request(),
            requests.versions(),
            requests.config("off"),
        ),
    ),
    Scenario(
        "registration and removal",
        lambda _: chain(
            brokers.registrations(),
            brokers.lenient(),
            brokers.removals(),
            brokers.zones(),
            rivals(1, 60),
            _walk(1),
            brokers.refusals(),
        ),
    ),
    Scenario(
        "order topics and acting masters",
        lambda _: chain(switched.order(), _walk(2, acting=True)),
        {"orderMessageEnable": "true", "supportActingMaster": "true"},
    ),
    Scenario(
        "topics deleted by registration, silent brokers",
        lambda _: chain(switched.expiry(), switched.deletion(), _walk(3)),
        {"deleteTopicWithBrokerRegistration": "true", "scanNotActiveBrokerInterval": "200"},
    ),
    Scenario(
        "smallest ids notified",
        switched.acting,
        {"supportActingMaster": "true", "notifyMinBrokerIdChanged": "true"},
    ),
    Scenario(
        "not ready, lists off, order topics kept",
        lambda _: chain(switched.order(), switched.lists(), requests.config("on")),
        {
            "needWaitForService": "true",
            "waitSecondsForService": "3600",
            "enableTopicList": "false",
            "enableAllTopicList": "false",
            "returnOrderTopicConfigToBroker": "false",
        },
        {"configUpdateEnabled": "true"},
    ),
]
