"""Brokers that a file describes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from signpost_namesrv.sidecar.declared import DeclarationError, Health, parse, registration
from signpost_namesrv.sidecar.declaring import Declaring, is_well
from signpost_namesrv.sidecar.packing import unpack
from tests.sidecar.actors import Doorman
from tests.sidecar.conftest import Stage
from tests.sidecar.test_discovery import http

ONE = """
brokers:
  - cluster: c
    name: d
    address: 10.0.0.7:10911
    topics:
      - {name: T, readQueues: 8, writeQueues: 2}
"""


def test_a_declared_broker_registers_as_a_stock_one_would() -> None:
    (broker,) = parse(ONE.encode(), "file")
    command = registration(broker)
    assert (command.field("brokerName"), command.field("brokerId")) == ("d", "0")
    topics = unpack(command).topics
    assert (topics["T"].read_queue_nums, topics["T"].write_queue_nums) == (8, 2)
    assert "d" in topics, "with one topic alone it would be refused"
    assert registration(broker) == command
    (other,) = parse(ONE.replace("8", "9").encode(), "file")
    assert unpack(registration(other)).version != unpack(command).version


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("name: d", "name: d\n    idd: 1"), "idd"),
        (("10.0.0.7:10911", "10.0.0.7"), "host:port"),
        (("readQueues: 8", "readQueues: many"), "int"),
        (("name: T", "name: a b"), "no topic name"),
        (("writeQueues: 2", "perm: 9"), "out of range"),
        (("name: T", "name: d"), "same name"),
        (("brokers:", "brokers: ["), "expected"),
        (("name: d", "name: d\n    id: -1"), "negative"),
    ],
)
def test_mistakes_are_named(change: tuple[str, str], complaint: str) -> None:
    with pytest.raises(DeclarationError, match=f"(?s)^file: .*{complaint}"):
        parse(ONE.replace(*change).encode(), "file")


@pytest.mark.parametrize(
    ("value", "address"), [("10.1.2.3", "10.1.2.3:10911"), ("fd00::7", "[fd00::7]:10911")]
)
def test_variables_are_filled_in(value: str, address: str) -> None:
    text = ONE.replace("10.0.0.7:10911", '"$(POD_IP):10911"').encode()
    (broker,) = parse(text, "file", {"POD_IP": value})
    assert broker.address == address
    with pytest.raises(DeclarationError, match=r"\$\(POD_IP\) is not set"):
        parse(text, "file", {})


class Doctor:
    def __init__(self) -> None:
        self.well = True

    async def __call__(self, health: Health) -> bool:
        return self.well


async def test_a_declared_broker_comes_changes_falls_ill_and_recovers(
    stage: Stage, tmp_path: Path
) -> None:
    file, doctor, now = tmp_path / "brokers.yaml", Doctor(), 0.0
    file.write_text(ONE)
    declaring = Declaring(file, stage.sidecar.carrier, lambda: now, check=doctor)
    await declaring.look()
    assert [s.queues("T") for s in stage.servers] == [{"d": (8, 2, 6)}] * 3
    sums = stage.sidecar.teller.sums
    now = 10
    await declaring.look()
    assert (sums.full, sums.queries) == (3, 0), "not due yet"
    now = 31
    await declaring.look()
    assert (sums.full, sums.queries) == (3, 3)

    file.write_text(ONE.replace("8", "16"))
    await declaring.look()
    assert [s.queues("T") for s in stage.servers] == [{"d": (16, 2, 6)}] * 3

    file.write_text("brokers: nonsense")
    await declaring.look()
    assert "brokers" in declaring.error
    assert stage.all_know("T"), "a bad file changes nothing"

    doctor.well = False
    await declaring.look()
    assert stage.all_know("T"), "one bad look is no illness"
    await declaring.look()
    assert not any(s.brokers() for s in stage.servers)
    doctor.well = True
    await declaring.look()
    assert stage.all_know("T")

    file.write_text(ONE.replace("name: d", "name: e"))
    await declaring.look()
    assert [s.brokers() for s in stage.servers] == [{"e": {0: "10.0.0.7:10911"}}] * 3


async def test_health_by_connecting_and_by_http() -> None:
    async def handle(request: web.Request) -> web.Response:
        return web.Response(status=int(request.path[1:]))

    async with http(handle) as url:
        address = url.removeprefix("http://")
        assert await is_well(Health(tcp=address))
        assert await is_well(Health(http=f"{url}/204"))
        assert not await is_well(Health(http=f"{url}/500"))
        assert not await is_well(Health(http="no url"))
    assert not await is_well(Health(tcp=address))
    assert not await is_well(Health(http=f"{url}/204"))

    loop = asyncio.get_running_loop()
    server = await loop.create_server(Doorman, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    assert not await is_well(Health(http=f"http://127.0.0.1:{port}/", timeout=0.05))
    server.close()
