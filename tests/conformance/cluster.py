"""Brokers that are registered with a Java name server and with ours, and the clients' driver."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.differential import facts
from tests.conformance.jvm import Java
from tests.conformance.peer import Peer, Request
from tests.conformance.processes import (
    Broker,
    NameServer,
    Process,
    java_name_server,
    our_name_server,
    wait_until,
)


class Driver(Process):
    """java/Driver.java: a request in, what it printed out."""

    def __init__(self, java: Java, folder: Path) -> None:
        quiet = {"signpost.log.level": "OFF"}  # it would mix with what the commands print
        super().__init__(java.command("Driver", folder, **quiet), folder, stdin=subprocess.PIPE)

    def request(self, *words: str) -> str:
        """Run one request and return what it printed."""
        requests, answers = self.child.stdin, self.child.stdout
        assert requests is not None
        assert answers is not None
        requests.write("\t".join(words).encode() + b"\n")
        requests.flush()
        size = answers.readline()
        assert size, f"the driver ended:\n{self.log.read_text()}"
        return bytes(answers.read(int(size))).decode()

    def mqadmin(self, server: NameServer, *words: str) -> str:
        """What an mqadmin command prints."""
        return self.request("mqadmin", *words, "-n", server.address)


@dataclass(frozen=True, slots=True)
class Cluster:
    """One set of brokers that two name servers know."""

    java: Java
    folder: Path
    stock: NameServer
    ours: NameServer
    master: Broker
    slave: Broker
    driver: Driver

    def broker(self, name: str, **flags: str) -> Broker:
        """Another broker that registers with both."""
        return Broker(self.java, self.folder / name, self._both, name, 0, **flags)

    @property
    def _both(self) -> str:
        return f"{self.stock.address};{self.ours.address}"

    def know(self, address: str) -> bool:
        """Whether both servers know a broker's address."""
        return self.stock.knows(address) and self.ours.knows(address)

    def forgot(self, address: str) -> bool:
        """Whether neither server knows a broker's address."""
        return not self.stock.knows(address) and not self.ours.knows(address)


def seen(server: NameServer, *topics: str) -> list[dict[str, Any]]:
    """What a server says of its cluster, its topics and the routes of some topics."""
    requests = [Request(106, {}), Request(206, {})]
    requests += [Request(105, {"topic": topic}) for topic in topics]
    with closing(Peer(server.port)) as peer:
        return [facts(request.code, peer.call(request)) for request in requests]


def alike(cluster: Cluster, *topics: str) -> None:
    """Wait until both servers say the same; a registration reaches one before the other."""
    with suppress(AssertionError):
        wait_until(lambda: seen(cluster.ours, *topics) == seen(cluster.stock, *topics), "", 10)
    assert seen(cluster.ours, *topics) == seen(cluster.stock, *topics)


@contextmanager
def start_cluster(java: Java, folder: Path) -> Iterator[Cluster]:
    """Two name servers, a master, a slave and the driver, ready."""
    with ExitStack() as stack:
        stock = stack.enter_context(java_name_server(java, folder / "stock", {}))
        ours = stack.enter_context(our_name_server(folder / "ours", {}))
        both = f"{stock.address};{ours.address}"
        master = stack.enter_context(Broker(java, folder / "master", both, "pair"))
        slave = stack.enter_context(Broker(java, folder / "slave", both, "pair", 1))
        driver = stack.enter_context(Driver(java, folder / "driver"))
        cluster = Cluster(java, folder, stock, ours, master, slave, driver)
        for broker in (master, slave):
            broker.joined(cluster.know)
        yield cluster
