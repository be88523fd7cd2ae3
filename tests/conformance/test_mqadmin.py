"""mqadmin prints the same text whether it asks the Java name server or ours."""

from __future__ import annotations

import re
import subprocess
from contextlib import closing

import pytest

from tests.conformance.cluster import Cluster, alike
from tests.conformance.differential import OWN
from tests.conformance.peer import Peer, Request
from tests.conformance.processes import NameServer

# Read from top to bottom: what one command makes, the next ones show.
COMMANDS = """
clusterList
clusterList -m
topicList
topicList -c
updateTopic -c conformance -t Made -r 4 -w 4
updateTopic -b MASTER -t Ordered -r 2 -w 3 -p 6 -o true
updateTopic -c nowhere -t Made
topicList
topicRoute -t Made
topicRoute -t Made -l
topicRoute -t Ordered
topicRoute -t nothing
topicClusterList -t Made
topicClusterList -t nothing
updateOrderConf -t Made -m put -v pair:4
updateOrderConf -t Made -m get
updateOrderConf -t Made -m delete
updateOrderConf -t Made -m get
updateKvConfig -s space -k key -v value
updateKvConfig -s space -k other -v value
deleteKvConfig -s space -k key
deleteKvConfig -s space -k nothing
wipeWritePerm -b pair
topicRoute -t Made
wipeWritePerm -b nobody
addWritePerm -b pair
topicRoute -t Made
addWritePerm -b nobody
getNamesrvConfig
deleteTopic -c conformance -t Made
topicRoute -t Made
topicList
""".strip().splitlines()


def _text(cluster: Cluster, server: NameServer, command: str) -> str:
    words = command.replace("MASTER", cluster.master.address).split()
    text = cluster.driver.mqadmin(server, *words)
    # Two servers cannot share an address.
    text = text.replace(server.address, "NAMESRV")
    if command == "clusterList":
        # Loads and clocks that mqadmin asked of the broker between version and activity.
        text = re.sub(r"(?m)( V\d\S+) .* (\S+)$", r"\1 ... \2", text)
    if command.startswith("topicList"):
        # The order of a hash set.
        text = "\n".join(sorted(text.splitlines()))
    if command == "getNamesrvConfig":
        # Nor ports and paths.
        text = re.sub(rf"(?m)^({'|'.join(OWN)})( *=).*$", r"\1\2 ...", text)
    return text


@pytest.mark.parametrize(
    "command", COMMANDS, ids=[f"{number:02} {command}" for number, command in enumerate(COMMANDS)]
)
def test_same_text(cluster: Cluster, command: str) -> None:
    stock = _text(cluster, cluster.stock, command)
    assert _text(cluster, cluster.ours, command) == stock
    alike(cluster, "Made", "Ordered")


def test_kv_commands_reached_the_table(cluster: Cluster) -> None:
    cluster.driver.mqadmin(cluster.ours, "updateKvConfig", "-s", "mine", "-k", "k", "-v", "v w")
    with closing(Peer(cluster.ours.port)) as peer:
        found = peer.call(Request(101, {"namespace": "mine", "key": "k"}))
        assert found is not None
        assert found.fields == {"value": "v w"}
        cluster.driver.mqadmin(cluster.ours, "deleteKvConfig", "-s", "mine", "-k", "k")
        gone = peer.call(Request(101, {"namespace": "mine", "key": "k"}))
        assert gone is not None
        assert gone.code == 22


def test_driver_prints_what_mqadmin_prints(cluster: Cluster) -> None:
    words = ["topicRoute", "-t", "TBW102", "-n", cluster.ours.address]
    main = "org.apache.rocketmq.tools.command.MQAdminStartup"
    quiet = {"signpost.log.level": "OFF"}
    command = cluster.java.command(main, cluster.folder / "mqadmin", *words, **quiet)
    real = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
    )
    assert cluster.driver.request("mqadmin", *words) == real.stdout
