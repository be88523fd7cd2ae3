"""Runs of the load generator, and how much of them belonged to other processes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.servers import Server, core_busy, cores
from bench.tools import compiled

DISTURBED = 0.05  # share of a core in the hands of others above which a run proves nothing


class LoadError(Exception):
    """The generator failed or got wrong answers."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How the load looks. `rate` 0: a closed loop, as fast as the server answers."""

    connections: int
    depth: int
    rate: int = 0

    def __str__(self) -> str:
        """As in the tables."""
        return f"{self.connections} x {self.depth}"


@dataclass(frozen=True, slots=True)
class Figures:
    """One run. Others' shares are what neither the server nor the generator took of its core."""

    rps: float
    p50_us: float
    p99_us: float
    max_us: float
    body_bytes: float
    generator_cpu: float
    server_cpu: float
    others_on_load_core: float
    others_on_server_core: float

    @property
    def per_cpu(self) -> float:
        """Requests per second of processor time of the server: others weigh less on it."""
        return self.rps / max(self.server_cpu, 0.001)

    @property
    def others(self) -> float:
        """The larger of the two."""
        return max(self.others_on_load_core, self.others_on_server_core)


class Run:
    """A generator that is running against a server."""

    def __init__(self, server: Server, topics: Path, shape: Shape, seconds: float) -> None:
        load_core, server_core = cores()
        self._server, self._seconds = server, seconds
        self._cores = (load_core, server_core)
        command = [str(compiled("load")), "127.0.0.1", str(server.port), "--topics", str(topics)]
        options = {"connections": shape.connections, "depth": shape.depth, "seconds": seconds}
        if shape.rate:
            options["rate"] = shape.rate
        command += [str(word) for key in options for word in (f"--{key}", options[key])]
        self._busy = [core_busy(core) for core in self._cores]
        self._cpu = server.cpu().total
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(
            command, stdout=pipe, stderr=pipe, text=True, process_group=0
        )
        assert self._child.stderr is not None
        self._begun = self._child.stderr.readline()

    def figures(self) -> Figures:
        """Wait for the end."""
        output, errors = self._child.communicate(timeout=self._seconds + 30)
        if not output:
            raise LoadError(f"the load generator failed: {self._begun}{errors}".strip())
        raw = json.loads(output)
        if raw["errors"] or not raw["requests"]:
            raise LoadError(f"wrong answers or none: {output.strip()}")
        own = [raw["cpu_share"] * raw["seconds"], self._server.cpu().total - self._cpu]
        busy = [core_busy(core) - was for core, was in zip(self._cores, self._busy, strict=True)]
        others = [max(b - o, 0.0) / raw["seconds"] for b, o in zip(busy, own, strict=True)]
        return Figures(
            rps=raw["rps"],
            p50_us=raw["p50_us"],
            p99_us=raw["p99_us"],
            max_us=raw["max_us"],
            body_bytes=raw["body_bytes"],
            generator_cpu=raw["cpu_share"],
            server_cpu=own[1] / raw["seconds"],
            others_on_load_core=others[0],
            others_on_server_core=others[1],
        )

    def end(self) -> Figures:
        """End it early: what is measured is over."""
        self._child.terminate()
        return self.figures()

    def stop(self) -> None:
        """End it if it still runs."""
        if self._child.poll() is None:
            self._child.kill()
        self._child.communicate()


@contextmanager
def loading(server: Server, topics: Path, shape: Shape, seconds: float) -> Iterator[Run]:
    """A run during which the caller does something; ask it for its figures at the end."""
    run = Run(server, topics, shape, seconds)
    try:
        yield run
    finally:
        run.stop()


def measure(server: Server, topics: Path, shape: Shape, seconds: float) -> Figures:
    """A run with nothing else going on."""
    with loading(server, topics, shape, seconds) as run:
        return run.figures()
