"""The command: what it prints, what it returns, what it hands to the server."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from signpost_namesrv import __main__, logs
from signpost_namesrv.__main__ import main
from signpost_namesrv.settings import CATALOGUE, LoadedSettings


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    # Help is given even when the rest of the line makes no sense.
    assert main(["--nonsense", "-h"], {"SIGNPOST_NONSENSE": ""}) == 0
    text = capsys.readouterr().out
    words = set(re.split(r"[\s,]+", text))
    for key, setting in CATALOGUE.items():
        assert (f"--{key}" if setting.about.effect else key) in words, key
        assert setting.about.why in " ".join(text.split())
    assert "--scanNotActiveBrokerInterval 5000 ms\n" in text
    assert "Exit codes" in text
    assert all(len(line) <= 100 or "," in line for line in text.splitlines())


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"], {}) == 0
    assert re.fullmatch(r"signpost-namesrv \d+\.\d+\.\d+\n", capsys.readouterr().out)


def test_print(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "ns.properties"
    file.write_text("listenPort=9877\nserverWorkerThreads=4\ntls.server.keyPassword=hush\n")
    words = ["-c", str(file), "-p", "--bindAddress", "::1"]
    assert main(words, {"SIGNPOST_LOG_FORMAT": "json", "ROCKETMQ_HOME": "/a\n/b"}) == 0
    out = capsys.readouterr().out
    rows = {}
    for line in out.splitlines():
        if " = " in line:
            key, rest = line.split("=", 1)
            rows[key.strip()] = rest.split(maxsplit=1) if rest[1] != " " else ["", rest.strip()]
    assert set(rows) == set(CATALOGUE)
    assert rows["listenPort"] == ["9877", f"file {file}:1"]
    assert rows["serverWorkerThreads"] == ["4", f"file {file}:2 (without effect)"]
    assert rows["tls.server.keyPassword"] == ["****", f"file {file}:3"]
    assert rows["bindAddress"] == ["::1", "command line"]
    assert rows["logFormat"] == ["json", "environment SIGNPOST_LOG_FORMAT"]
    assert rows["rocketmqHome"] == ["/a\\n/b", "environment ROCKETMQ_HOME"]
    assert rows["httpPort"] == ["8080", "default"]
    assert rows["expectedBrokers"] == ["", "default"]
    assert "hush" not in out


def test_problems(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--listenPrt", "1", "--httpPort", "x"], {}) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert [line.split(": ")[:3] for line in captured.err.splitlines()] == [
        ["signpost-namesrv", "command line", "listenPrt=1"],
        ["signpost-namesrv", "command line", "httpPort=x"],
    ]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[LoadedSettings]:
    """What the server was started with; the server itself is not."""
    seen: list[LoadedSettings] = []

    def run(loaded: LoadedSettings) -> int:
        seen.append(loaded)
        return 7

    app = ModuleType("signpost_namesrv.app")
    app.__dict__["run"] = run
    monkeypatch.setitem(sys.modules, app.__name__, app)
    return seen


def test_start(started: list[LoadedSettings], monkeypatch: pytest.MonkeyPatch) -> None:
    configured: list[tuple[str, str]] = []
    monkeypatch.setattr(logs, "configure", lambda *given: configured.append(given))
    assert main(["--listenPort", "1", "--logLevel", "error"], {}) == 7
    assert [loaded.settings.network.listen_port for loaded in started] == [1]
    assert configured == [("error", "text")]


def test_one_warning_for_all_settings_without_effect(
    started: list[LoadedSettings],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(logs, "configure", lambda *given: None)
    main(["--serverWorkerThreads", "1", "--useTLS", "true", "--listenPort", "1"], {})
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.__dict__["fields"] == {"keys": ("serverWorkerThreads", "useTLS")}
    caplog.clear()
    main(["--listenPort", "1"], {})
    assert caplog.records == []


def test_a_reader_that_leaves_early() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", __main__.__name__, "-h"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
