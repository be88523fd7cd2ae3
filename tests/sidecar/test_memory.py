"""Registrations that outlast the sidecar."""

from __future__ import annotations

import asyncio
from pathlib import Path

from signpost_namesrv.sidecar.memory import Memory
from signpost_namesrv.sidecar.sidecar import Options, Sidecar
from signpost_namesrv.wire.command import Command
from tests.sidecar.actors import Broker, Doorman, Server, servers, until


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "kept")
    assert memory.load() == []
    commands = [Command(code=103, opaque=n, fields={"brokerName": "a"}, body=b"x") for n in (1, 2)]
    memory.save(commands)
    assert memory.load() == commands
    (tmp_path / "kept").write_bytes(b"nonsense, more than eight bytes of it")
    assert memory.load() == []


def test_a_disk_that_fails_costs_nothing_else(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "no" / "folder")
    memory.save([])
    assert memory.load() == []


async def _sidecar(file: Path, server: Server) -> tuple[Sidecar, int]:
    sidecar = Sidecar(Options(port=0, memory=file))
    port = await sidecar.start()
    sidecar.fleet.set([server.address])
    await until(lambda: sidecar.fleet.up)
    return sidecar, port


async def test_a_sidecar_that_starts_again_speaks_at_once(tmp_path: Path) -> None:
    loop, file = asyncio.get_running_loop(), tmp_path / "kept"
    process = await loop.create_server(Doorman, "127.0.0.1", 0)
    address = f"127.0.0.1:{process.sockets[0].getsockname()[1]}"
    async with servers(1) as (server,):
        first, port = await _sidecar(file, server)
        broker = await Broker("a", 0, address).connect(port)
        await broker.register("T")
        await until(file.exists)
        await first.stop()
        await until(lambda: not server.brokers(), "its connection took the broker along")

        second, port = await _sidecar(file, server)
        await until(lambda: "T" in server.topics(), "known again without a word of the broker")
        again = await Broker("a", 0, address).connect(port)
        assert (await again.register("T")).code == 0
        again.hang_up()
        process.close()
        await until(lambda: not server.brokers(), "and looked after as ever")
        await second.stop()

        third, _ = await _sidecar(file, server)
        assert not third.carrier.records, "a broker that is gone is not remembered"
        await third.stop()
        broker.hang_up()
