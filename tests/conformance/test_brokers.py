"""Stock brokers, producers, consumers and mqadmin at work with our name server."""

from __future__ import annotations

from contextlib import closing

from tests.conformance.cluster import Cluster, alike
from tests.conformance.peer import Peer, Request
from tests.conformance.processes import wait_until


def test_master_and_slave_are_in_one_group(cluster: Cluster) -> None:
    with closing(Peer(cluster.ours.port)) as peer:
        answer = peer.call(Request(901, {"clusterName": "conformance", "brokerName": "pair"}))
    assert answer is not None
    addresses = f'{{0:"{cluster.master.address}",1:"{cluster.slave.address}"}}'
    assert addresses in answer.body.decode()
    alike(cluster, "TBW102", "pair")


def test_messages_are_exchanged(cluster: Cluster) -> None:
    created = cluster.driver.mqadmin(
        cluster.ours, "updateTopic", "-c", "conformance", "-t", "Exchange", "-r", "4", "-w", "4"
    )
    assert f"create topic to {cluster.master.address} success." in created
    received = cluster.driver.request("exchange", cluster.ours.address, "Exchange", "50")
    assert received.splitlines() == [f"message {number:03}" for number in range(50)]


def test_stopped_and_killed_brokers_disappear(cluster: Cluster) -> None:
    binary = {"rocketmq.serialize.type": "ROCKETMQ"}  # one of them writes binary headers
    with cluster.broker("stopped") as stopped, cluster.broker("killed", **binary) as killed:
        for broker in (stopped, killed):
            broker.joined(cluster.know)
        alike(cluster, "stopped", "killed")
        stopped.stop()
        wait_until(lambda: cluster.forgot(stopped.address), "the stopped broker is gone")
        alike(cluster, "stopped", "killed")
        killed.kill()
        wait_until(lambda: cluster.forgot(killed.address), "the killed broker is gone")
        alike(cluster, "stopped", "killed")
