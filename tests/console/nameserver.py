"""Real `signpost-namesrv` processes on free ports of the loopback interface."""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

START_SECONDS = 30


@dataclass(frozen=True)
class NameServer:
    """One that is running."""

    child: subprocess.Popen[bytes]
    remoting: int
    http: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http}"

    async def stop(self) -> None:
        self.child.terminate()
        await asyncio.to_thread(self.child.wait, START_SECONDS)


def free_port() -> int:
    """For servers that must know each other's port before they start."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def start(folder: Path, **settings: object) -> NameServer:
    """A name server with these settings, by their keys."""
    log = folder / "output.log"
    child = await asyncio.to_thread(_spawn, folder, log, settings)
    try:
        async with asyncio.timeout(START_SECONDS):
            while not (ports := _ports(log)):
                assert child.poll() is None, log.read_text()
                await asyncio.sleep(0.02)
    except BaseException:
        child.kill()
        raise
    return NameServer(child, *ports)


def _spawn(folder: Path, log: Path, settings: Mapping[str, object]) -> subprocess.Popen[bytes]:
    folder.mkdir(parents=True, exist_ok=True)
    given: dict[str, object] = {
        "bindAddress": "127.0.0.1",
        "listenPort": 0,
        "httpPort": 0,
        "kvConfigPath": folder / "kv.json",
        "logFormat": "json",
        "shutdownWaitTimeSeconds": 1,
    }
    options = [f"--{key}={value}" for key, value in {**given, **settings}.items()]
    command = [sys.executable, "-m", "signpost_namesrv", *options]
    with log.open("wb") as output:
        return subprocess.Popen(command, stdout=output, stderr=output)


def _ports(log: Path) -> tuple[int, int] | None:
    """The two ports, once both are open."""
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    found = {line["message"]: line["port"] for line in lines if "port" in line}
    if "listening for HTTP" not in found:
        return None
    return found["listening"], found["listening for HTTP"]
