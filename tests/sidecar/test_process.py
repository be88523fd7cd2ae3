"""The command: its settings, TLS, signals, and draining from outside."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from cryptography import x509

from signpost_namesrv.app.sidecar.build import build, find, options
from signpost_namesrv.settings.sidecar import CATALOGUE
from signpost_namesrv.settings.sidecar.groups import Discovery
from signpost_namesrv.sidecar.presence import can_connect
from signpost_namesrv.sidecar_main import main
from signpost_namesrv.wire.command import Command
from tests.conformance.processes import free_port
from tests.sidecar.actors import Broker, Server, servers, until
from tests.tls.conftest import Authority


def test_help_names_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-h"], {}) == 0
    text = capsys.readouterr().out
    for key, setting in CATALOGUE.items():
        assert f"--{key}" in text
        assert setting.about.why in " ".join(text.split())


def test_mistakes_stop_the_start(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], {}) == 2
    assert "namesrvAddr" in capsys.readouterr().err
    assert main(["--namesrvAddr", "a:1", "--beatSeconds", "5"], {"SIGNPOST_NONSENSE": "1"}) == 2
    errors = capsys.readouterr().err
    assert "beatSeconds=5" in errors
    assert "SIGNPOST_NONSENSE" in errors
    assert main(["--namesrvAddr", "a:1", "--tls.client.certPath", "x"], {}) == 2
    assert "come in pairs" in capsys.readouterr().err
    assert main(["drain", "http://a", "b"], {}) == 2
    assert main(["drain", "http://127.0.0.1:1"], {}) == 1


def test_print(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "sidecar.properties"
    file.write_text("namesrvAddr=a:1;b:2\ndrainWaitSeconds=3\n")
    assert main(["-c", str(file), "-p"], {"SIGNPOST_BEAT_SECONDS": "20"}) == 0
    out = capsys.readouterr().out
    assert "namesrvAddr          = a:1,b:2" in out
    assert f"file {file}:2" in out
    assert "environment SIGNPOST_BEAT_SECONDS" in out


def test_sources(tmp_path: Path) -> None:
    (tmp_path / "namespace").write_text("mq\n")
    discovery = Discovery.model_validate(
        {
            "namesrv_addr": "a:1",
            "namesrv_dns": "ns.mq.svc",
            "namesrv_service": "namesrv:9877",
            "service_account_dir": tmp_path,
            "namesrv_address_server": "http://h/rocketmq/nsaddr",
            "namesrv_file": tmp_path / "list",
        }
    )
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"}
    sources = {source.name: source for source in find(discovery, environment)}
    assert list(sources) == ["fixed list", "DNS", "EndpointSlices", "address server", "file"]
    service = sources["EndpointSlices"]._service  # type: ignore[attr-defined]
    assert service.url.startswith("https://[fd00::1]:6443/apis/discovery.k8s.io/v1/namespaces/mq/")
    assert service.port == 9877


class Sidecar:
    """The command, running."""

    def __init__(self, *words: str) -> None:
        self.port, self.http = free_port(), free_port()
        self._words = words
        self.process: asyncio.subprocess.Process

    async def start(self) -> None:
        flags = ["--listenPort", str(self.port), "--httpPort", str(self.http), *self._words]
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "signpost_namesrv.sidecar_main", *flags
        )
        async with asyncio.timeout(30):
            while not await can_connect("127.0.0.1", self.http):  # noqa: ASYNC110
                await asyncio.sleep(0.05)


@asynccontextmanager
async def running(*words: str) -> AsyncIterator[Sidecar]:
    sidecar = Sidecar(*words)
    await sidecar.start()
    try:
        yield sidecar
    finally:
        if sidecar.process.returncode is None:
            sidecar.process.kill()
        await sidecar.process.wait()


def _all(cast: list[Server]) -> str:
    return ";".join(server.address for server in cast)


async def test_sigterm_drains_and_exits(tmp_path: Path) -> None:
    async with (
        servers(2) as cast,
        running("--namesrvAddr", _all(cast), "--drainWaitSeconds", "0") as sidecar,
    ):
        broker = await Broker().connect(sidecar.port)
        await answered(broker, lambda reply: reply.code == 0)
        sidecar.process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(sidecar.process.wait(), 20) == 0
        assert not any(server.brokers() for server in cast)
        broker.hang_up()


async def test_the_drain_command_returns_when_drained(tmp_path: Path) -> None:
    async with (
        servers(1) as cast,
        running("--namesrvAddr", _all(cast), "--drainWaitSeconds", "0") as sidecar,
    ):
        broker = await Broker().connect(sidecar.port)
        await answered(broker, lambda reply: reply.code == 0)
        url = f"http://127.0.0.1:{sidecar.http}"
        assert await asyncio.to_thread(main, ["drain", url], {}) == 0
        assert not cast[0].brokers()
        assert sidecar.process.returncode is None, "the sidecar itself goes on"
        broker.hang_up()


async def answered(broker: Broker, well: Callable[[Command], bool]) -> None:
    """Register until the answer is as it should be: name servers are found bit by bit."""
    async with asyncio.timeout(20):
        while True:
            if well(await broker.register("T")):
                return
            await asyncio.sleep(0.05)


async def test_tls_with_client_certificates(tmp_path: Path) -> None:
    authority = Authority("CA")
    names: list[x509.GeneralName] = [x509.DNSName("namesrv.mq.svc")]
    pairs = {"server": authority.issue("namesrv", names), "client": authority.issue("broker-a")}
    (tmp_path / "ca.pem").write_bytes(authority.pem)
    for name, issued in pairs.items():
        (tmp_path / f"{name}.pem").write_bytes(issued.pem)
        (tmp_path / f"{name}.key").write_bytes(issued.key_pem())
    server_tls = {
        "server_mode": "enforcing",
        "cert_path": tmp_path / "server.pem",
        "key_path": tmp_path / "server.key",
        "trust_cert_path": tmp_path / "ca.pem",
        "need_client_auth": "require",
    }
    flags = ["--tls.enable", "true", "--tls.client.trustCertPath", str(tmp_path / "ca.pem")]
    flags += ["--tls.client.certPath", str(tmp_path / "client.pem")]
    flags += ["--tls.client.keyPath", str(tmp_path / "client.key")]
    async with servers(1, tls=server_tls) as (server,):
        good = ["--tls.client.serverName", "namesrv.mq.svc"]
        async with running("--namesrvAddr", server.address, *flags, *good) as sidecar:
            broker = await Broker().connect(sidecar.port)
            await answered(broker, lambda reply: reply.code == 0)
            assert "T" in server.topics()
            broker.hang_up()
        await until(lambda: not server.brokers())
        bad = ["--tls.client.serverName", "other.name"]
        async with running("--namesrvAddr", server.address, *flags, *bad) as sidecar:
            broker = await Broker().connect(sidecar.port)
            await answered(broker, lambda reply: "Hostname mismatch" in (reply.remark or ""))
            broker.hang_up()


def test_settings_reach_their_places(tmp_path: Path) -> None:
    from signpost_namesrv.settings.arguments import parse_arguments
    from signpost_namesrv.settings.sidecar import load

    words = ["--namesrvAddr", "a:1", "--answerWaitMillis", "250", "--drainWaitSeconds", "7"]
    settings = load(parse_arguments(words), {}).settings
    made = options(settings, None)
    assert (made.answer_wait, made.drain_wait, made.port) == (0.25, 7, 9876)
    assert made.dialling.tls() is None


async def test_nothing_is_built_from_nonsense() -> None:
    from signpost_namesrv.app.sidecar.build import BuildError
    from signpost_namesrv.settings.sidecar import SidecarSettings

    settings = SidecarSettings.model_validate({"discovery": {"namesrv_addr": "nonsense"}})
    with pytest.raises(BuildError, match="host:port"):
        build(settings, None)
