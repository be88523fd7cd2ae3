"""Stock brokers behind sidecars, stock and our own name servers, a stock producer and consumer."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from tests.conformance.jvm import Java
from tests.conformance.processes import NameServer, Process, free_port, wait_until

P = TypeVar("P", bound=Process)
SOURCE = Path(__file__).parent / "java" / "Stream.java"


class SidecarProcess(Process):
    """The command beside one broker; it reads its name servers from a file."""

    def __init__(self, folder: Path, addresses: Sequence[str], drain_wait: int = 3) -> None:
        self.port, self.http = free_port(), free_port()
        folder.mkdir(parents=True)
        self._list = folder / "nameservers"
        self.list(addresses)
        flags = {
            "listenPort": str(self.port),
            "httpPort": str(self.http),
            "namesrvFile": str(self._list),
            "drainWaitSeconds": str(drain_wait),
        }
        words = [word for key, value in flags.items() for word in (f"--{key}", value)]
        super().__init__([sys.executable, "-m", "signpost_namesrv.sidecar_main", *words], folder)
        wait_until(self._answers, "the sidecar listens")

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http}"

    def list(self, addresses: Sequence[str]) -> None:
        """What discovery says from now on; written at once, as a ConfigMap would be."""
        part = self._list.with_suffix(".part")
        part.write_text(";".join(addresses))
        part.rename(self._list)

    def status(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.url}/v1/status", timeout=10) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def linked(self) -> Sequence[str]:
        """The name servers that it holds a link to."""
        return [endpoint["address"] for endpoint in self.status()["endpoints"]]

    def drain(self) -> None:
        """As preStop does."""
        command = [sys.executable, "-m", "signpost_namesrv.sidecar_main", "drain", self.url]
        subprocess.run(command, check=True, timeout=60)

    def _answers(self) -> bool:
        try:
            return bool(self.status())
        except OSError:
            return False


class Stream(Process):
    """java/Stream.java, ready when made."""

    def __init__(self, java: Java, folder: Path, namesrv: str, topic: str, poll_ms: int) -> None:
        folder.mkdir(parents=True)
        classes = folder / "classes"
        libraries = java.classpath
        javac = ["javac", "-proc:none", "-cp", libraries, "-d", str(classes), str(SOURCE)]
        subprocess.run(javac, check=True)
        with_ours = Java(f"{classes}:{libraries}")
        command = with_ours.command("Stream", folder, namesrv, topic, str(poll_ms))
        super().__init__(command, folder, stdin=subprocess.PIPE)
        assert self.child.stdout is not None
        first = self.child.stdout.readline()
        assert first == b"ready\n", f"{first!r}:\n{self.log.read_text()}"

    def brokers(self) -> list[str]:
        """Which brokers took the latest messages."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.write(b"?\n")
        self.child.stdin.flush()
        return bytes(self.child.stdout.readline()).decode().strip().split(",")

    def finish(self) -> dict[str, int]:
        """Stop sending, wait for the last message, and tell."""
        out, _ = self.child.communicate(timeout=90)
        words = out.decode().split()
        return {key: int(value) for key, value in zip(words[::2], words[1::2], strict=True)}


def started_again(process: P) -> P:
    """The same command in the same folder, after the process ended."""
    again = copy.copy(process)
    words = process.child.args
    assert isinstance(words, list)
    Process.__init__(again, [str(word) for word in words], process.log.parent)
    return again


def at_once(makers: Sequence[Callable[[], NameServer]]) -> list[NameServer]:
    """Start several; each takes seconds, and most of that is waiting."""
    with ThreadPoolExecutor(len(makers)) as pool:
        return list(pool.map(lambda make: make(), makers))
