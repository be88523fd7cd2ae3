"""What the fleet does: come, beat, lose a name server."""

from __future__ import annotations

import asyncio
import json
import math
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from bench.cli import step
from bench.register import plain_body
from bench.report import Row
from bench.servers import Server
from bench.wire import GET_CLUSTER, AnswerError, Client
from signpost_namesrv.sidecar.sidecar import Options, Sidecar
from signpost_namesrv.wire.command import Command

CLUSTER_SIZE = 10
PATIENCE = 600.0
GET_ALL_TOPICS = 206


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a fleet."""

    sidecars: int
    topics: int
    beat: float
    reconnect: float


class Fleet:
    """Sidecars, each with one broker that says the same every time."""

    def __init__(self, shape: Shape, ports: Sequence[int]) -> None:
        self.shape = shape
        self.plain_bytes = 0
        bodies: dict[int, bytes] = {}
        self.members: list[tuple[Sidecar, Command]] = []
        addresses = [f"127.0.0.1:{port}" for port in ports]
        options = Options(
            reconnect_longest=shape.reconnect, answer_wait=PATIENCE, register_timeout=PATIENCE
        )
        for number in range(shape.sidecars):
            cluster = number // CLUSTER_SIZE
            if cluster not in bodies:
                bodies[cluster] = plain_body(_topics(cluster, shape.topics), cluster)
            body = bodies[cluster]
            sidecar = Sidecar(options)
            sidecar.fleet.set(addresses)
            self.members.append((sidecar, _registration(number, cluster, body)))
            self.plain_bytes = len(body)

    async def each(self, work: Callable[[Sidecar, Command], Awaitable[None]]) -> None:
        """Do it with every member at once."""
        await asyncio.gather(*(work(*member) for member in self.members))

    def caught_up(self, port: int) -> int:
        """How many brokers the name server at a port was told of when links came up."""
        address = f"127.0.0.1:{port}"
        return sum(
            endpoint.catch_ups
            for sidecar, _ in self.members
            for endpoint in sidecar.fleet.endpoints
            if endpoint.address == address
        )

    def bytes_sent(self) -> int:
        """To all name servers."""
        return sum(link.bytes_sent for sidecar, _ in self.members for link in sidecar.fleet.links)

    async def close(self) -> None:
        """Hang up."""
        for sidecar, _ in self.members:
            await sidecar.fleet.close()


def _topics(cluster: int, count: int) -> list[str]:
    """Names that compress no better than real ones."""
    draw = random.Random(cluster)
    return [f"team-{draw.randrange(50)}.{draw.getrandbits(40):010x}-events" for _ in range(count)]


def _registration(number: int, cluster: int, body: bytes) -> Command:
    address = f"10.{number // 62_500}.{number // 250 % 250}.{number % 250 + 1}"
    fields = {
        "brokerId": "0",
        "clusterName": f"cluster-{cluster:04d}",
        "brokerName": f"broker-{number:05d}",
        "brokerAddr": f"{address}:10911",
        "haServerAddr": f"{address}:10912",
        "enableActingMaster": "false",
        "compressed": "false",
    }
    return Command(code=103, opaque=0, fields=fields, body=body)


async def crowd(fleet: Fleet, servers: Sequence[Server]) -> list[Row]:
    """Everybody comes at once."""
    count, before = fleet.shape.sidecars, [server.cpu().total for server in servers]
    began = time.monotonic()

    missing, everybody = count, asyncio.Event()

    async def come(sidecar: Sidecar, command: Command) -> None:
        nonlocal missing
        async with asyncio.timeout(PATIENCE):
            while len(sidecar.fleet.up) < len(servers):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        # A link on which nobody spoke for two minutes was closed, and is being made again.
        while (await sidecar.carrier.announce(command)).remark:  # noqa: ASYNC110
            await asyncio.sleep(1.0)
        missing -= 1
        if not missing:
            everybody.set()
        while not everybody.is_set():  # those who wait for the others beat meanwhile
            with suppress(TimeoutError):
                await asyncio.wait_for(everybody.wait(), fleet.shape.beat)
            await sidecar.carrier.announce(command)

    coming = asyncio.ensure_future(fleet.each(come))
    await asyncio.wait(
        {coming, asyncio.ensure_future(everybody.wait())}, return_when=asyncio.FIRST_COMPLETED
    )
    took = time.monotonic() - began
    await coming
    for server in servers:
        check(fleet, server)
    cpu = [server.cpu().total - b for server, b in zip(servers, before, strict=True)]
    memory = max(server.memory()["now"] for server in servers)
    one = fleet.members[0][0]
    packed = len(next(iter(one.carrier.records.values())).registration.body)
    step(f"all registered after {took:.1f} s")
    return [
        Row(f"{count} sidecars register at once: until all are known", took, "s"),
        Row("- CPU time of a name server per registration", _mean(cpu) / count * 1e3, "ms"),
        Row("- memory of a name server then", memory, "MB"),
        Row("- body as the broker sends it", fleet.plain_bytes / 1e3, "kB"),
        Row("- body as the sidecar sends it", packed / 1e3, "kB"),
    ]


def check(fleet: Fleet, server: Server) -> None:
    """A figure counts only when the name server really has every broker and topic."""
    client = Client(server.port)
    brokers = client.call(GET_CLUSTER, {}).body.count(b'"brokerName"')
    topics = len(json.loads(client.call(GET_ALL_TOPICS, {}).body)["topicList"])
    client.close()
    shape = fleet.shape
    wanted = shape.sidecars, shape.topics * math.ceil(shape.sidecars / CLUSTER_SIZE)
    if (brokers, topics) != wanted:
        raise AnswerError(f"brokers and topics: {(brokers, topics)} instead of {wanted}")


async def beats(fleet: Fleet, servers: Sequence[Server], count: int, *, in_full: bool) -> list[Row]:
    """Beats, spread over the interval as those of real brokers are."""
    interval = fleet.shape.beat
    cpu = [server.cpu().total for server in servers]
    sent, began = fleet.bytes_sent(), time.monotonic()
    took: list[float] = []

    async def beat(sidecar: Sidecar, command: Command) -> None:
        due = began + random.random() * interval
        for _ in range(count):
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            await (_tell_all(sidecar) if in_full else sidecar.carrier.announce(command))
            took.append(time.monotonic() - due)
            due += interval

    await fleet.each(beat)
    seconds = time.monotonic() - began
    used = [server.cpu().total - b for server, b in zip(servers, cpu, strict=True)]
    for server in servers:
        check(fleet, server)
    number = len(took) * len(servers)
    carried = (fleet.bytes_sent() - sent) / number
    took.sort()
    kind = "full compressed registrations" if in_full else "version queries"
    step(f"{len(took)} beats as {kind} in {seconds:.0f} s")
    return [
        Row(f"beats as {kind}: a name server's core", _mean(used) / seconds * 100, "%"),
        Row("- CPU time of a name server per beat", _mean(used) / len(took) * 1e3, "ms"),
        Row("- bytes to a name server per beat", carried, "B"),
        Row(
            "- saved against the stock broker's plain body",
            100 * (1 - carried / fleet.plain_bytes),
            "%",
        ),
        Row("- a beat from due to done, median", statistics.median(took) * 1e3, "ms"),
        Row("- the same, 99th percentile", took[int(len(took) * 0.99)] * 1e3, "ms"),
        Row("- memory of a name server", max(s.memory()["now"] for s in servers), "MB"),
    ]


async def _tell_all(sidecar: Sidecar) -> None:
    (record,) = sidecar.carrier.records.values()
    await sidecar.fleet.ask_all(lambda link: sidecar.teller.tell(link, record, in_full=True))


async def restart(fleet: Fleet, server: Server) -> list[Row]:
    """A name server loses every connection at once, as after a restart or a partition."""
    cpu, before = server.cpu().total, fleet.caught_up(server.port)
    for sidecar, _ in fleet.members:
        for link in sidecar.fleet.links:
            if link.endpoint.address.endswith(f":{server.port}"):
                link.drop()
    began = time.monotonic()
    async with asyncio.timeout(PATIENCE):
        while fleet.caught_up(server.port) - before < fleet.shape.sidecars:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    took = time.monotonic() - began
    check(fleet, server)
    step(f"all known again after {took:.1f} s")
    used = server.cpu().total - cpu
    count = fleet.shape.sidecars
    return [
        Row(f"a name server lost {count} links: until it knows all brokers again", took, "s"),
        Row("- its CPU time per broker", used / count * 1e3, "ms"),
        Row("- its highest memory", server.memory()["peak"], "MB"),
    ]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
