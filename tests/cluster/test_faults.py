"""A busy, conflicting, restarting API server; an operator that is restarted; two at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.apiserver import ApiServer, wait_until
from tests.cluster.operators import Operator
from tests.cluster.proxy import WRITES, Proxy
from tests.cluster.scene import Scene


@pytest.fixture
def proxy(api_server: ApiServer) -> Iterator[Proxy]:
    with Proxy(api_server.url, api_server.certificate) as started:
        yield started


@pytest.fixture
def behind(
    api_server: ApiServer, proxy: Proxy, scene: Scene, tmp_path: Path, logs: list[Path]
) -> Iterator[Operator]:
    """An operator of the test's own, behind the proxy, for the test's namespace only."""
    config = api_server.kubeconfig(server=proxy.url)
    with Operator(config, tmp_path / "operator", namespaces=scene.namespace) as started:
        logs.append(started.log)
        started.await_ready()
        yield started


def test_an_unchanged_resource_costs_no_write(proxy: Proxy, behind: Operator, scene: Scene) -> None:
    scene.cluster(monitoring={"podMonitor": True}, resources={"limits": {"cpu": "1000m"}})
    scene.broker(groups=2, storage={"type": "Volume", "size": "1024Mi"})
    settle(proxy, behind, scene)
    with proxy.recorded() as calls:
        reconciled = behind.metric("signpost_operator_reconciles_total")
        scene.annotate("NameServerCluster", "ns", note="looked at")
        scene.annotate("Broker", "b", note="looked at")
        wait_until(
            lambda: behind.metric("signpost_operator_reconciles_total") >= reconciled + 2,
            "both are reconciled",
        )
        assert calls() == [], "and the API server is not even asked"


def test_a_fresh_operator_writes_nothing_that_is_already_so(
    api_server: ApiServer, proxy: Proxy, behind: Operator, scene: Scene, tmp_path: Path
) -> None:
    scene.cluster()
    scene.broker()
    settle(proxy, behind, scene)
    behind.stop()
    with proxy.recorded() as calls:
        config = api_server.kubeconfig(server=proxy.url)
        with Operator(config, tmp_path / "second", namespaces=scene.namespace) as second:
            second.await_ready()
            assert second.metric("signpost_operator_reconciles_total") >= 2
        assert [call for call in calls() if call.verb in WRITES] == []


def settle(proxy: Proxy, operator: Operator, scene: Scene) -> None:
    """Wait until pods are awaited and nothing has been written for a while."""
    scene.await_condition("NameServerCluster", "ns", "Progressing", "True", "Starting")
    scene.await_condition("Broker", "b", "Progressing", "True", "Starting")
    seen: list[tuple[float, float]] = []

    def quiet() -> bool:
        writes = sum(proxy.writes().values())
        seen.append((writes, operator.metric("signpost_operator_reconciles_total")))
        return len(seen) > 2 and len(set(seen[-3:])) == 1

    wait_until(quiet, "nothing is left to do", every=0.7)


def test_conflicts_and_throttling_are_waited_out(
    proxy: Proxy, behind: Operator, scene: Scene
) -> None:
    faults = [
        proxy.fail("PATCH", "/services/", 409, 2),
        proxy.fail("PATCH", "/deployments/", 429, 2, retry_after="0"),
        proxy.fail("PATCH", "/configmaps/", 503, 1),
        proxy.fail("PATCH", "/status$", 429, 1, retry_after="0"),
        proxy.fail("GET", "/serviceaccounts/", 500, 1),
    ]
    scene.cluster()
    scene.await_pods("ns", 2)
    scene.await_condition("NameServerCluster", "ns", "Degraded", "False")
    assert [fault.met for fault in faults] == [2, 2, 1, 1, 1]
    assert not [line for line in behind.lines() if "stack" in line]


def test_an_api_server_that_refuses_for_long_is_told_and_overcome(
    proxy: Proxy, behind: Operator, scene: Scene
) -> None:
    fault = proxy.fail("PATCH", "/deployments/", 403, 1000)
    scene.cluster()
    told = scene.await_condition("NameServerCluster", "ns", "Degraded", "True", "ApplyFailed")
    assert "Deployment ns-namesrv: the test gets in the way" in told["message"]
    wait_until(lambda: fault.met >= 3, "it goes on trying")
    fault.times = 0
    scene.await_pods("ns", 2)
    scene.await_condition("NameServerCluster", "ns", "Degraded", "False")
    assert scene.reasons("NameServerCluster", "ns").count("ApplyFailed") == 1


def test_the_api_server_restarts(api_server: ApiServer, behind: Operator, scene: Scene) -> None:
    scene.cluster()
    scene.await_pods("ns", 2)
    api_server.restart_server()
    scene.edit("NameServerCluster", "ns", replicas=3)
    scene.await_pods("ns", 3)
    scene.kube.delete("Service", scene.namespace, "ns-namesrv")
    scene.await_object("Service", "ns-namesrv")
    assert behind.running()


def test_the_operator_is_killed_in_the_middle_of_a_roll_out(
    api_server: ApiServer, proxy: Proxy, scene: Scene, tmp_path: Path, logs: list[Path]
) -> None:
    config = api_server.kubeconfig(server=proxy.url)
    held = proxy.fail("PATCH", "/deployments/", 503, 1000)
    scene.cluster()
    with Operator(config, tmp_path / "first", namespaces=scene.namespace) as first:
        logs.append(first.log)
        wait_until(lambda: held.met, "it has come to the Deployment")
        assert scene.find("Service", "ns-namesrv")
        first.kill()
    held.times = 0
    scene.edit("NameServerCluster", "ns", replicas=3, exposure={"type": "NodePort"})
    with Operator(config, tmp_path / "second", namespaces=scene.namespace) as second:
        logs.append(second.log)
        scene.await_pods("ns", 3)
        scene.await_condition("NameServerCluster", "ns", "Progressing", "True")
        assert scene.read("Service", "ns-namesrv")["spec"]["type"] == "NodePort"


def test_two_replicas_do_not_fight(
    api_server: ApiServer, proxy: Proxy, scene: Scene, tmp_path: Path, logs: list[Path]
) -> None:
    def replica(name: str) -> Operator:
        started = Operator(
            api_server.kubeconfig(server=proxy.url),
            tmp_path / name,
            namespaces=scene.namespace,
            leader_election="true",
            lease_namespace=scene.namespace,
            lease_seconds=3,
            identity=name,
        )
        logs.append(started.log)
        return started

    def leads(each: Operator) -> bool:
        return each.metric("signpost_operator_leader") == 1

    with replica("one") as one:
        wait_until(lambda: leads(one), "the first one leads")
        with replica("two") as two:
            two.await_ready()
            scene.cluster()
            scene.await_pods("ns", 2)
            assert two.metric("signpost_operator_reconciles_total") == 0
            assert not leads(two)
            one.kill()
            wait_until(lambda: leads(two), "the second one takes over")
            scene.edit("NameServerCluster", "ns", replicas=3)
            scene.await_pods("ns", 3)
            with replica("three") as three:
                three.await_ready()
                assert two.stop() == 0
                wait_until(lambda: leads(three), "a leader that leaves is followed at once")
