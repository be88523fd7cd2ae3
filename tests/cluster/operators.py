"""The operator as a child process, as it runs in its pod."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Self

from tests.cluster.apiserver import Daemon, free_ports, wait_until

NAMESRV_HTTP, NAMESRV_REMOTING = free_ports(2)
"""Where the operator of the tests looks for name servers; each has an address of its own."""


class Operator(Daemon):
    """One replica. It is quicker than in production, so that tests are too."""

    def __init__(self, kubeconfig: Path, folder: Path, **settings: object) -> None:
        defaults: dict[str, object] = {
            "listen": "127.0.0.1:0",
            "leader_election": "false",
            "observe_seconds": 0.3,
            "probe_seconds": 2,
            "http_port": NAMESRV_HTTP,
            "remoting_port": NAMESRV_REMOTING,
            "log_level": "info",
        }
        flags = [
            word
            for name, value in (defaults | settings).items()
            for word in (f"--{name.replace('_', '-')}", str(value))
        ]
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__(
            folder / "operator.log",
            [sys.executable, "-m", "signpost_operator", *flags],
            {"KUBECONFIG": str(kubeconfig)},
        )
        self.address = ""
        try:
            wait_until(self._listens, "the operator listens", 60)
        except BaseException:
            self.kill()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def get(self, path: str) -> tuple[int, str]:
        """Ask its own HTTP side."""
        try:
            with urllib.request.urlopen(f"http://{self.address}{path}", timeout=10) as found:
                return found.status, found.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def await_ready(self) -> None:
        """Wait until it has looked at every resource."""
        wait_until(lambda: self.get("/readyz")[0] == 200, "the operator is ready", 60)

    def metric(self, name: str) -> float:
        """The sum of a metric over its labels."""
        lines = self.get("/metrics")[1].splitlines()
        return sum(
            float(line.rsplit(" ", 1)[1])
            for line in lines
            if line.startswith((f"{name} ", f"{name}{{"))
        )

    def lines(self) -> list[dict[str, Any]]:
        """What it logged."""
        return [json.loads(line) for line in self.log.read_text().splitlines() if line[:1] == "{"]

    def _listens(self) -> bool:
        assert self.running(), f"the operator ended:\n{self.log.read_text()}"
        self.address = next((line["http"] for line in self.lines() if "http" in line), "")
        return bool(self.address)
