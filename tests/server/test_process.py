"""The program itself: started, asked, signalled, killed."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.remoting import Answer, parse, request
from tests.support.world import registration

SECONDS = 30.0


class Program:
    """A running `python -m signpost_namesrv`."""

    def __init__(self, folder: Path, *words: str) -> None:
        settings = ["--bindAddress", "127.0.0.1", "--listenPort", "0", "--httpPort", "-1"]
        settings += ["--kvConfigPath", str(folder / "kvConfig.json")]
        bare = {k: v for k, v in os.environ.items() if not k.startswith("SIGNPOST_")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "signpost_namesrv", *settings, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
            env=bare,
        )
        self.lines: list[str] = []

    def read_until(self, pattern: str) -> re.Match[str]:
        """Its output up to a line that matches."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            if found := re.search(pattern, line):
                return found
        pytest.fail(f"no {pattern!r} in {''.join(self.lines)}")

    def connect(self) -> socket.socket:
        port = int(self.read_until(r"listening .*port=(\d+)")[1])
        return socket.create_connection(("127.0.0.1", port), SECONDS)

    def ended(self) -> tuple[int, str]:
        """Its exit code and all that it said."""
        rest, _ = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, "".join(self.lines) + rest


@contextmanager
def started(folder: Path, *words: str) -> Iterator[Program]:
    program = Program(folder, *words)
    try:
        yield program
    finally:
        program.process.kill()
        program.process.communicate(timeout=SECONDS)


def ask(peer: socket.socket, data: bytes) -> Answer:
    peer.sendall(data)
    stream = peer.makefile("rb")
    size = stream.read(4)
    return parse(size + stream.read(int.from_bytes(size, "big")))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(tmp_path: Path, number: signal.Signals) -> None:
    with started(tmp_path) as program, program.connect() as peer:
        assert ask(peer, request(103, *registration())).code == 0
        program.process.send_signal(number)
        assert peer.recv(1) == b""
        code, output = program.ended()
        assert code == 0
        assert "stopping" in output
        assert "stopped" in output
        assert "Traceback" not in output


def test_a_port_in_use_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with started(tmp_path, "--listenPort", port) as program:
            code, output = program.ended()
    assert code == 1
    assert "Traceback" not in output
    (line,) = [line for line in output.splitlines() if "cannot listen" in line]
    assert port in line
    assert "in use" in line


def test_a_broken_kv_file_stops_the_start_and_stays(tmp_path: Path) -> None:
    file = tmp_path / "kvConfig.json"
    broken = b'{"configTable":{"n":'
    file.write_bytes(broken)
    with started(tmp_path) as program:
        code, output = program.ended()
    assert code == 1
    assert str(file) in output
    assert "Traceback" not in output
    assert file.read_bytes() == broken
    assert list(tmp_path.iterdir()) == [file]


def test_kv_writes_outlive_a_kill(tmp_path: Path) -> None:
    with started(tmp_path) as program, program.connect() as peer:
        for number in range(5):
            fields = {"namespace": "n", "key": f"k{number}", "value": "v"}
            assert ask(peer, request(100, fields)).code == 0
        peer.sendall(
            b"".join(
                request(100, {"namespace": "n", "key": f"late{number}", "value": "v" * 1000})
                for number in range(200)
            )
        )
        program.process.kill()
        assert program.ended()[0] == -signal.SIGKILL
    kept = json.loads((tmp_path / "kvConfig.json").read_bytes())
    assert {f"k{number}" for number in range(5)} <= set(kept["configTable"]["n"])
    with started(tmp_path) as program, program.connect() as peer:
        answer = ask(peer, request(219, {"namespace": "n"}))
        assert answer.json()["table"] == kept["configTable"]["n"]
        files = [path.name for path in tmp_path.iterdir()]
        assert files == ["kvConfig.json"]


def test_waiting_for_service(tmp_path: Path) -> None:
    waiting = ("--needWaitForService", "true", "--waitSecondsForService", "600")
    with started(tmp_path, *waiting, "--expectedBrokers", "a,b") as program:
        peer = program.connect()
        look_up = request(105, {"topic": "T"})
        assert ask(peer, request(103, *registration())).code == 0
        assert ask(peer, look_up).code == 1
        assert ask(peer, request(103, *registration("b", 0, "b:1"))).code == 0
        assert ask(peer, look_up).code == 0
        peer.close()


def test_settings_over_the_wire(tmp_path: Path) -> None:
    """Where it is allowed, only what is listed; what changes is in force at once."""
    with started(tmp_path, "--configUpdateEnabled", "true") as program:
        peer = program.connect()
        assert ask(peer, request(103, *registration())).code == 0
        kv = {"namespace": "ORDER_TOPIC_CONFIG", "key": "T", "value": "a:4"}
        assert ask(peer, request(100, kv)).code == 0
        look_up = request(105, {"topic": "T"})
        for _ in range(2):
            assert "orderTopicConf" not in ask(peer, look_up).json()
        for body in (b"kvConfigPath=/x", b"listenPort=1", b"orderMessageEnable=maybe", b"x=y"):
            assert ask(peer, request(318, body=body)).code == 16
        assert "orderTopicConf" not in ask(peer, look_up).json()
        assert ask(peer, request(318, body=b"orderMessageEnable=true")).code == 0
        for _ in range(2):
            assert ask(peer, look_up).json()["orderTopicConf"] == "a:4"
        assert ask(peer, request(100, kv | {"value": "a:8"})).code == 0
        assert ask(peer, look_up).json()["orderTopicConf"] == "a:8"
        assert b"orderMessageEnable=true" in ask(peer, request(319)).body
        peer.close()
