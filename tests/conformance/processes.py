"""Name servers, brokers and the client driver as child processes of the test run."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Self

from tests.conformance.jvm import Java
from tests.conformance.peer import Peer, Request

BOOT_SECONDS = 60.0
LOGS: list[Path] = []
Settings = Mapping[str, str]


def free_port() -> int:
    """A port that a broker can listen on: it takes the one two below and the one above too."""
    while True:
        port = random.randrange(20_000, 32_000)
        if all(_is_free(near) for near in range(port - 2, port + 2)):
            return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def wait_until(condition: Callable[[], bool], what: str, seconds: float = BOOT_SECONDS) -> None:
    """Return when the condition holds; fail, naming what was awaited, when it never does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(0.05)


class Process:
    """A child process whose output goes to a file in its own folder."""

    def __init__(self, command: list[str], folder: Path, stdin: int = subprocess.DEVNULL) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "output.log"
        LOGS.append(self.log)
        piped = stdin == subprocess.PIPE
        with self.log.open("wb") as output:
            self.child = subprocess.Popen(
                command,
                cwd=folder,
                env=os.environ | {"HOME": str(folder)},
                stdin=stdin,
                stdout=subprocess.PIPE if piped else output,
                stderr=output,
            )

    def running(self) -> bool:
        return self.child.poll() is None

    def stop(self) -> None:
        """Ask it to end, as a shell or Kubernetes does; does not wait."""
        self.child.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once, without a last word."""
        self.child.kill()
        self.child.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


class NameServer(Process):
    """A name server on a port of its own, accepting connections when made."""

    def __init__(self, command: list[str], folder: Path, port: int) -> None:
        super().__init__(command, folder)
        self.port = port
        self.address = f"127.0.0.1:{port}"
        try:
            wait_until(lambda: not self.running() or self._accepts(), f"{command[0]} on {port}")
            assert self.running(), f"the name server ended:\n{self.log.read_text()}"
        except BaseException:
            self.kill()
            raise

    def _accepts(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def knows(self, broker: str) -> bool:
        """Whether a broker's address is in its tables."""
        with closing(Peer(self.port)) as peer:
            answer = peer.call(Request(106, {}))
        assert answer is not None, "a name server answers"
        return f'"{broker}"' in answer.body.decode()


def java_name_server(java: Java, folder: Path, settings: Settings) -> NameServer:
    """The stock server, its settings in a properties file."""
    port = free_port()
    folder.mkdir(parents=True)
    file = folder / "namesrv.properties"
    own = {"listenPort": str(port), "configStorePath": str(file)}
    file.write_text(_properties({**own, **_paths(folder), **settings}))
    main = "org.apache.rocketmq.namesrv.NamesrvStartup"
    return NameServer(java.command(main, folder, "-c", str(file)), folder, port)


def our_name_server(folder: Path, settings: Settings) -> NameServer:
    """The server under test, its settings as flags."""
    port = free_port()
    flags = {"listenPort": str(port), "httpPort": "0", **_paths(folder), **settings}
    command = [sys.executable, "-m", "signpost_namesrv"]
    command += [word for key, value in flags.items() for word in (f"--{key}", value)]
    return NameServer(command, folder, port)


def _paths(folder: Path) -> Settings:
    return {"kvConfigPath": str(folder / "kvConfig.json")}


def _properties(settings: Settings) -> str:
    return "".join(f"{key}={value}\n" for key, value in settings.items())


class Broker(Process):
    """A stock broker; `joined` waits until it is registered."""

    def __init__(
        self,
        java: Java,
        folder: Path,
        namesrv: str,
        name: str,
        broker_id: int = 0,
        more: Settings = MappingProxyType({}),
        /,
        **flags: str,
    ) -> None:
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        folder.mkdir(parents=True)
        file = folder / "broker.properties"
        settings = {
            "namesrvAddr": namesrv,
            "brokerClusterName": "conformance",
            "brokerName": name,
            "brokerId": str(broker_id),
            "brokerRole": "SLAVE" if broker_id else "ASYNC_MASTER",
            "brokerIP1": "127.0.0.1",
            "brokerIP2": "127.0.0.1",
            "listenPort": str(self.port),
            "haListenPort": str(self.port + 1),
            "storePathRootDir": str(folder / "store"),
            "mappedFileSizeCommitLog": str(4 << 20),
            "mappedFileSizeConsumeQueue": "60000",
            # Every second an idle broker writes all of its large timer wheel.
            "timerFlushIntervalMs": "600000",
            "diskMaxUsedSpaceRatio": "99",
            # A busy machine must not turn into refused messages.
            "waitTimeMillsInSendQueue": "20000",
            "osPageCacheBusyTimeOutMills": "20000",
        }
        file.write_text(_properties({**settings, **more}))
        main = "org.apache.rocketmq.broker.BrokerStartup"
        super().__init__(java.command(main, folder, "-c", str(file), heap="512m", **flags), folder)

    def joined(self, knows: Callable[[str], bool]) -> None:
        """Wait until the broker is known, nudging it when it missed its first registration.

        A broker registers at its start with those name servers that its client has already
        reached, often none, and then only ten seconds later; a change of its permission
        registers it anew.
        """
        wait_until(self._booted, f"broker {self.address} booted")
        assert self.running(), f"the broker ended:\n{self.log.read_text()}"
        wait_until(lambda: knows(self.address) or self._nudged(), f"{self.address} registered")

    def _booted(self) -> bool:
        return not self.running() or b"boot success" in self.log.read_bytes()

    def _nudged(self) -> bool:
        with closing(Peer(self.port, BOOT_SECONDS)) as peer:
            peer.call(Request(25, {}, b"brokerPermission=6\n"))
        return False
