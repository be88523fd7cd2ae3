"""A fleet of broker sidecars against three name servers, all on this machine.

python -m bench.fleet [--quick] [--sidecars 500] [--topics 2000] [--beat 30] [--out FOLDER]

The sidecars are the real ones, many in one process, each with its own links; brokers register by
calling them directly. Ten brokers form a cluster and share its topics.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict
from pathlib import Path

from bench.cli import interruptible, parser, step, write_json
from bench.fleet_run import Fleet, Shape, beats, crowd, restart
from bench.report import Row, rows_table
from bench.servers import Server, cores, free_port, our_command, pin, raise_file_limit, running

PARTS = ("beats", "full", "restart")
SERVERS = 3


def main() -> None:
    """Run what was asked for and print one table."""
    flags = parser(__doc__, PARTS)
    flags.add_argument("--sidecars", type=int, default=500)
    flags.add_argument("--topics", type=int, default=2000)
    flags.add_argument("--beat", type=float, default=30.0, help="seconds between two beats")
    flags.add_argument("--reconnect", type=float, default=0.8, help="longest pause, in seconds")
    flags.add_argument("--beats", type=int, default=3, help="how many beats are measured")
    given = flags.parse_args()
    raise_file_limit()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="signpost-fleet-")))
        servers = [stack.enter_context(_server(folder / str(n))) for n in range(SERVERS)]
        pin(cores()[0])
        rows = asyncio.run(_run(given, servers))
        print(rows_table(rows))
        write_json(given.out, "fleet", {"rows": [asdict(row) for row in rows]})


def _server(folder: Path) -> AbstractContextManager[Server]:
    """All of them share the servers' core."""
    folder.mkdir()
    port = free_port()
    return running(our_command(folder, port), folder, port, cores()[1])


async def _run(given: argparse.Namespace, servers: list[Server]) -> list[Row]:
    shape = Shape(given.sidecars, given.topics, given.beat, given.reconnect)
    if given.quick:
        shape = Shape(20, 200, 2.0, given.reconnect)
    fleet = Fleet(shape, [server.port for server in servers])
    step(f"{shape.sidecars} sidecars x {shape.topics} topics, {len(servers)} name servers")
    rows = await crowd(fleet, servers)
    if "beats" in given.only:
        rows += await beats(fleet, servers, given.beats, in_full=False)
    if "full" in given.only:
        rows += await beats(fleet, servers, given.beats, in_full=True)
    if "restart" in given.only:
        rows += await restart(fleet, servers[0])
    await fleet.close()
    return rows


if __name__ == "__main__":
    interruptible(main)
