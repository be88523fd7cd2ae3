"""Servers as child processes, each pinned to a core, and what the kernel says about them."""

from __future__ import annotations

import functools
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.tools import compiled, rocketmq_jars
from bench.wire import GET_CLUSTER, AnswerError, Client

BOOT_SECONDS = 60.0
_TICK = os.sysconf("SC_CLK_TCK")
# The heap of the stock start script. Its collector, G1, is slower on one core than the serial one
# that a JVM chooses there by itself, so Java gets the faster.
_JVM = ("-server", "-Xms4g", "-Xmx4g", "-Xmn2g")


class ServerError(Exception):
    """A server did not start or ended by itself."""


@functools.cache  # asked before and after this process is pinned itself
def cores() -> tuple[int, int]:
    """The core of the load generator and the core of the servers."""
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < 2:
        raise ServerError("the bench needs two cores: one for the server, one for the load")
    return usable[0], usable[-1]


def pin(core: int) -> None:
    """Keep this process, and whatever it starts, on a core."""
    os.sched_setaffinity(0, {core})


def raise_file_limit() -> int:
    """Allow this process, and whatever it starts, as many files as the hard limit does."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


@dataclass(frozen=True, slots=True)
class CpuTime:
    """Seconds of a core that a process has used."""

    user: float
    system: float

    @property
    def total(self) -> float:
        """Both together."""
        return self.user + self.system


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    port: int
    child: subprocess.Popen[bytes]

    def cpu(self) -> CpuTime:
        """Processor time of all its threads so far."""
        stat = Path(f"/proc/{self.child.pid}/stat").read_text().rpartition(")")[2].split()
        return CpuTime(int(stat[11]) / _TICK, int(stat[12]) / _TICK)

    def memory(self) -> dict[str, float]:
        """Resident memory now and at its highest, in MB of a million bytes."""
        status = Path(f"/proc/{self.child.pid}/status").read_text().splitlines()
        values = {key: value for key, _, value in (line.partition(":") for line in status)}
        names = {"now": "VmRSS", "peak": "VmHWM"}
        return {name: int(values[key].split()[0]) * 1024 / 1e6 for name, key in names.items()}


@contextmanager
def paused(servers: Iterable[Server]) -> Iterator[None]:
    """Hold servers still while another one has their core: a JVM compiles when it is idle, too."""
    held = list(servers)
    try:
        for server in held:
            server.child.send_signal(signal.SIGSTOP)
        yield
    finally:
        for server in held:
            server.child.send_signal(signal.SIGCONT)


def core_busy(core: int) -> float:
    """Seconds that a core was not idle since boot; time stolen by the hypervisor counts."""
    for line in Path("/proc/stat").read_text().splitlines():
        name, *columns = line.split()
        if name == f"cpu{core}":
            user, nice, system, _idle, _wait, irq, softirq, steal = map(int, columns[:8])
            return (user + nice + system + irq + softirq + steal) / _TICK
    raise ServerError(f"no core {core} in /proc/stat")


def java_command(folder: Path, port: int) -> list[str]:
    """The stock name server 5.3.3 with its stock settings."""
    settings = folder / "namesrv.properties"
    paths = {"kvConfigPath": folder / "kvConfig.json", "configStorePath": settings}
    lines = [f"listenPort={port}", *(f"{key}={path}" for key, path in paths.items())]
    settings.write_text("\n".join(lines) + "\n")
    where = [f"-Duser.home={folder}", f"-Drocketmq.home.dir={folder}"]
    main = "org.apache.rocketmq.namesrv.NamesrvStartup"
    return ["java", *_JVM, *where, "-cp", f"{rocketmq_jars()}/*", main, "-c", str(settings)]


def our_command(folder: Path, port: int) -> list[str]:
    """Signpost's name server with its default settings."""
    flags = {"listenPort": port, "httpPort": 0, "kvConfigPath": folder / "kvConfig.json"}
    program = Path(sys.executable).parent / "signpost-namesrv"
    return [str(program), *(str(word) for key in flags for word in (f"--{key}", flags[key]))]


def plain_command(folder: Path, port: int, body: bytes) -> list[str]:
    """The plain C server, which answers everything with that body."""
    file = folder / "body"
    file.write_bytes(body)
    return [str(compiled("epoll_server")), str(port), str(file)]


def free_port() -> int:
    """A port below the range from which outgoing connections are given theirs."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port


@contextmanager
def running(command: list[str], folder: Path, port: int, core: int) -> Iterator[Server]:
    """Start a server on a core, wait until it answers, and end it afterwards."""
    log = folder / "output.log"
    with log.open("wb") as output:
        child = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,  # Ctrl-C reaches us alone; we end the servers
            preexec_fn=lambda: pin(core),  # before the JVM counts its cores
        )
    server = Server(port, child)
    try:
        _wait_until_it_answers(server, log)
        yield server
        if child.poll() is not None:
            raise ServerError(f"the server ended by itself:\n{_tail(log)}")
    finally:
        _end(child)


def _wait_until_it_answers(server: Server, log: Path) -> None:
    deadline = time.monotonic() + BOOT_SECONDS
    while True:
        if server.child.poll() is not None or time.monotonic() > deadline:
            raise ServerError(f"the server did not start:\n{_tail(log)}")
        try:
            client = Client(server.port)
            client.call(GET_CLUSTER, {})
            client.close()
        except (OSError, AnswerError):
            time.sleep(0.1)
        else:
            return


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-20:])


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        child.send_signal(signal.SIGTERM)
    try:
        child.wait(timeout=15)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
