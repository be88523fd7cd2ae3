"""The real RocketMQ 5.3.3 around the sidecar: nothing lost, nothing unknown."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from tests.conformance.cluster import Driver, seen
from tests.conformance.jvm import Java, missing_tools, toolchain
from tests.conformance.processes import (
    Broker,
    NameServer,
    java_name_server,
    our_name_server,
    wait_until,
)
from tests.sidecar.jvm import SidecarProcess, Stream, at_once, started_again

pytestmark = [
    pytest.mark.jvm,
    pytest.mark.timeout(600),
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {missing_tools()}"),
]


@pytest.fixture(scope="module")
def java() -> Java:
    return toolchain()


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def _joined(addresses: list[NameServer]) -> str:
    return ";".join(server.address for server in addresses)


def _alike(cast: list[NameServer], *topics: str) -> bool:
    first, *rest = (seen(server, *topics) for server in cast)
    return all(other == first for other in rest)


def test_six_name_servers_come_and_go_under_traffic(
    java: Java, stack: ExitStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours: list[Callable[[], NameServer]] = [
        partial(our_name_server, tmp_path / f"ours-{n}", {}) for n in range(3)
    ]
    stock = [partial(java_name_server, java, tmp_path / f"stock-{n}", {}) for n in range(3)]
    cast = at_once([*ours, *stock])
    for server in cast:
        stack.enter_context(server)
    sidecar = stack.enter_context(SidecarProcess(tmp_path / "sidecar", _addresses(cast)))
    broker = stack.enter_context(Broker(java, tmp_path / "broker", sidecar.address, "kept"))
    driver = stack.enter_context(Driver(java, tmp_path / "driver"))
    broker.joined(lambda address: all(server.knows(address) for server in cast))
    driver.mqadmin(cast[0], "updateTopic", "-c", "conformance", "-t", "Kept")
    wait_until(lambda: _alike(cast, "kept", "Kept", "TBW102"), "all six say the same")
    assert "Kept" in str(seen(cast[5], "Kept")[1])

    stream = stack.enter_context(
        Stream(java, tmp_path / "stream", _joined(cast), "Kept", poll_ms=1000)
    )
    # One of each kind is killed and started again at its address; one is added, one removed.
    took = {}
    cast[0].kill()
    cast[3].kill()
    for number, kind in ((0, "ours, restarted"), (3, "Java, restarted")):
        again: NameServer = started_again(cast[number])
        cast[number] = stack.enter_context(again)
        wait_until(again._accepts, f"{again.address} listens")
        took[kind] = _until_known(again, broker.address)
    added = our_name_server(tmp_path / "added", {})
    listening = time.monotonic()
    stack.enter_context(added)
    sidecar.list(_addresses([*cast, added]))
    wait_until(lambda: added.knows(broker.address), "the added name server knows the broker")
    took["ours, listed after it listened"] = time.monotonic() - listening
    sidecar.list(_addresses([*cast[1:], added]))
    cast[0].kill()
    cast = [*cast[1:], added]
    wait_until(lambda: _alike(cast, "kept", "Kept"), "all six say the same again")
    wait_until(lambda: sidecar.linked() == _addresses(cast), "the removed one is let go")

    counts = stream.finish()
    with capsys.disabled():
        times = ", ".join(f"{kind} {seconds * 1000:.0f} ms" for kind, seconds in took.items())
        print(f"\n  known after listening: {times}; traffic: {counts}")
    assert counts["received"] == counts["sent"] > 100
    assert counts["errors"] == 0
    assert max(took.values()) < 15

    gone = time.monotonic()
    broker.kill()
    wait_until(lambda: not any(server.knows(broker.address) for server in cast), "gone", 20)
    with capsys.disabled():
        print(f"  a killed broker left all six after {(time.monotonic() - gone) * 1000:.0f} ms")


def _addresses(cast: list[NameServer]) -> list[str]:
    return [server.address for server in cast]


def _until_known(server: NameServer, broker: str) -> float:
    began = time.monotonic()
    wait_until(lambda: server.knows(broker), f"{server.address} knows the broker", 30)
    return time.monotonic() - began


def test_a_rolling_restart_of_brokers_loses_nothing(
    java: Java, stack: ExitStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cast = at_once([partial(our_name_server, tmp_path / f"ours-{n}", {}) for n in range(2)])
    for server in cast:
        stack.enter_context(server)
    sidecars = [
        stack.enter_context(SidecarProcess(tmp_path / f"sidecar-{n}", _addresses(cast)))
        for n in range(2)
    ]
    brokers = [
        stack.enter_context(Broker(java, tmp_path / f"broker-{n}", sidecars[n].address, f"b{n}"))
        for n in range(2)
    ]
    driver = stack.enter_context(Driver(java, tmp_path / "driver"))
    for broker in brokers:
        broker.joined(lambda address: all(server.knows(address) for server in cast))
    driver.mqadmin(cast[0], "updateTopic", "-c", "conformance", "-t", "Rolled")
    stream = stack.enter_context(
        Stream(java, tmp_path / "stream", _joined(cast), "Rolled", poll_ms=1000)
    )
    for sidecar, broker in zip(sidecars, brokers, strict=True):
        sidecar.drain()
        assert not any(server.knows(broker.address) for server in cast)
        broker.stop()
        broker.child.wait(60)
        again = stack.enter_context(started_again(broker))
        again.joined(lambda address: all(server.knows(address) for server in cast))
        # The next one may go when producers have found this one again.
        wait_until(lambda: stream.brokers() == ["b0", "b1"], "both brokers are written to")
    counts = stream.finish()
    with capsys.disabled():
        print(f"\n  rolling restart of 2 brokers: {counts}")
    assert counts["received"] == counts["sent"] > 100
    assert counts["errors"] == 0
