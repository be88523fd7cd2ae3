"""One Kubernetes API for all tests here, one operator for most; skipped, loudly, without either."""

from __future__ import annotations

import uuid
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
import yaml

from tests.cluster import existing
from tests.cluster.apiserver import ApiServer, wait_until
from tests.cluster.binaries import UnavailableError, kubernetes
from tests.cluster.kube import Kube
from tests.cluster.operators import Operator
from tests.cluster.scene import Scene

HERE = Path(__file__).parent
CRDS = HERE.parent.parent / "crds"
LOG_LINES = 40
_LOGS: list[Path] = []
_skips: list[str] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first run builds Kubernetes, which takes minutes."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.cluster)
            item.add_marker(pytest.mark.timeout(1800))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say aloud what was not tried."""
    if _skips:
        terminalreporter.section("NOT TRIED AGAINST KUBERNETES", yellow=True, bold=True)
        terminalreporter.line(f"the operator's tests were skipped: {_skips[0]}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the ends of the processes' logs with a failure."""
    report = yield
    if report.failed:
        for log in _LOGS:
            if log.exists() and (lines := log.read_text(errors="replace").splitlines()):
                report.sections.append((str(log), "\n".join(lines[-LOG_LINES:])))
    return report


@pytest.fixture(scope="session")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """The API server, with our custom resources known to it."""
    folder = tmp_path_factory.mktemp("kubernetes")
    try:
        chosen = existing.ExistingCluster(folder) if existing.wanted() else None
        server = chosen or ApiServer(kubernetes(), folder)
    except UnavailableError as error:
        _skips.append(str(error))
        pytest.skip(str(error))
    with server:
        install_crds(server.kube())
        yield server


def install_crds(kube: Kube) -> None:
    """Make the API server know the custom resources."""
    root = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    for file in sorted(CRDS.glob("*.yaml")):
        body = yaml.safe_load(file.read_text())
        name = body["metadata"]["name"]
        apply = f"{root}/{name}?fieldManager=tests&force=true"
        kube.call("PATCH", apply, body, "application/apply-patch+yaml")

        def established(name: str = name) -> bool:
            conditions = kube.get(f"{root}/{name}").get("status", {}).get("conditions") or ()
            return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)

        wait_until(established, f"{name} is established")


@pytest.fixture(scope="session")
def kube(api_server: ApiServer) -> Kube:
    """The administrator's client."""
    return api_server.kube()


@pytest.fixture
def namespace(kube: Kube) -> str:
    """A namespace of the test's own; it is left behind, for the whole cluster is thrown away."""
    name = f"t-{uuid.uuid4().hex[:8]}"
    kube.namespace(name)
    return name


@pytest.fixture(scope="session")
def operator(api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    """The operator that serves every namespace of tests that do not need one of their own."""
    folder = tmp_path_factory.mktemp("operator")
    with Operator(api_server.kubeconfig(), folder) as started:
        _LOGS.append(started.log)
        yield started


@pytest.fixture
def logs() -> list[Path]:
    """Where a test adds the logs of what it starts."""
    return _LOGS


@pytest.fixture
def scene(kube: Kube, namespace: str) -> Scene:
    """The test's own namespace, and what can be done in it."""
    return Scene(kube, namespace)
