"""One script to two servers: the Java name server and ours answer alike, field by field."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conformance.differential import Difference, Listeners, Run, compare
from tests.conformance.jvm import Java
from tests.conformance.known import KNOWN, Known
from tests.conformance.processes import LOGS, java_name_server, our_name_server
from tests.conformance.scenarios import SCENARIOS, Scenario

Outcome = dict[str, list[Difference]]


def _differences(java: Java, folder: Path, scenario: Scenario) -> list[Difference]:
    name = scenario.name.replace(" ", "-").replace(",", "")
    with (
        Listeners(3) as listeners,
        java_name_server(java, folder / f"{name}-java", scenario.settings) as stock,
        our_name_server(folder / f"{name}-ours", {**scenario.settings, **scenario.ours}) as ours,
    ):
        script = list(scenario.script(listeners.addresses))
        left = Run(stock, listeners).observe(script)
        right = Run(ours, listeners).observe(script)
        found = [it for pair in zip(list(left), right, strict=True) for it in compare(*pair)]
    for server in (stock, ours):  # they ran to the end: their logs would tell nothing more
        LOGS.remove(server.log)
    return found


@pytest.fixture(scope="module")
def outcome(java: Java, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Every difference of every scenario."""
    folder = tmp_path_factory.mktemp("differential")
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda scenario: _differences(java, folder, scenario), SCENARIOS)
        return {scenario.name: it for scenario, it in zip(SCENARIOS, found, strict=True)}


@pytest.mark.parametrize("name", [scenario.name for scenario in SCENARIOS])
def test_answers_alike(outcome: Outcome, name: str) -> None:
    unknown = [it for it in outcome[name] if not any(known.explains(it) for known in KNOWN)]
    assert not unknown, f"{len(unknown)} differences:\n" + "\n".join(map(str, unknown[:20]))


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.reason)
def test_known_difference_still_exists(outcome: Outcome, known: Known) -> None:
    assert any(known.explains(it) for found in outcome.values() for it in found)
