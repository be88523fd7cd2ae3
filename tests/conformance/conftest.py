"""The real RocketMQ beside the server under test. JVMs are started once and shared."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.conformance.cluster import Cluster, start_cluster
from tests.conformance.jvm import Java, missing_tools, toolchain
from tests.conformance.processes import LOGS

HERE = Path(__file__).parent
LOG_LINES = 60
_skipped = 0


def _reason() -> str:
    return f"not installed: {', '.join(missing_tools())}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a JVM; skip it where there is none. The first run downloads the jars."""
    global _skipped
    ours = [item for item in items if HERE in item.path.parents]
    for item in ours:
        item.add_marker(pytest.mark.jvm)
        item.add_marker(pytest.mark.timeout(900))
        if missing_tools():
            item.add_marker(pytest.mark.skip(reason=_reason()))
            _skipped += 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say aloud what was not compared."""
    if _skipped:
        terminalreporter.section("NOT COMPARED WITH ROCKETMQ", yellow=True, bold=True)
        terminalreporter.line(
            f"{_skipped} tests against the real RocketMQ were skipped: {_reason()}"
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the ends of the processes' logs with a failure."""
    report = yield
    if report.failed:
        for log in LOGS:
            if log.exists() and (lines := log.read_text(errors="replace").splitlines()):
                report.sections.append((str(log), "\n".join(lines[-LOG_LINES:])))
    return report


@pytest.fixture(scope="session")
def java() -> Java:
    """The jars and the drivers."""
    return toolchain()


@pytest.fixture(scope="session")
def cluster(java: Java, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A master and a slave that are registered with a Java name server and with ours."""
    with start_cluster(java, tmp_path_factory.mktemp("cluster")) as started:
        yield started
