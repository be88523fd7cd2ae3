"""Files that change: good ones are taken over, bad ones are named once."""

import asyncio
import os
import shutil
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509

from signpost_namesrv.filewatch import FileWatch
from signpost_namesrv.tls import (
    ReloadingTls,
    TlsClientFiles,
    TlsConfigError,
    TlsFiles,
    TlsMode,
    TlsSession,
    load_context,
    open_client_tls,
    open_server_tls,
    reload,
)

from .conftest import DAY, Client, Issued, Pki


class Lines:
    """Stands in for the log."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, object]]] = []

    def info(self, message: str, **fields: object) -> None:
        self.lines.append(("info", message, fields))

    def warning(self, message: str, **fields: object) -> None:
        self.lines.append(("warning", message, fields))

    def error(self, message: str, **fields: object) -> None:
        self.lines.append(("error", message, fields))

    def errors(self) -> list[str]:
        return [str(fields["reason"]) for level, _, fields in self.lines if level == "error"]


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Lines:
    lines = Lines()
    monkeypatch.setattr(reload, "log", lines)
    return lines


def issue(pki: Pki, **dates: object) -> Issued:
    return pki.authority.issue("name server", [x509.DNSName("localhost")], **dates)  # type: ignore[arg-type]


def install(pki: Pki, issued: Issued) -> None:
    pki.cert.write_bytes(issued.pem)
    pki.key.write_bytes(issued.key_pem())


def opened(pki: Pki, now: Callable[[], float] | None = None) -> ReloadingTls:
    files = TlsFiles(pki.cert, pki.key)
    if now:
        return ReloadingTls(lambda: load_context(files), files.paths, now)
    tls = open_server_tls(TlsMode.PERMISSIVE, files)
    assert tls
    return tls


def connect(pki: Pki, tls: ReloadingTls) -> tuple[TlsSession, Client]:
    session, client = TlsSession(tls.context), Client(pki.client_context())
    client.shake_hands(session)
    return session, client


def serial(client: Client) -> int:
    certificate = client.ssl.getpeercert(binary_form=True)
    assert certificate
    return x509.load_der_x509_certificate(certificate).serial_number


def test_a_new_certificate_is_for_new_connections_and_old_ones_go_on(
    pki: Pki, lines: Lines
) -> None:
    tls = opened(pki)
    old_session, old_client = connect(pki, tls)
    assert not tls.poll()
    new = issue(pki, not_after=9 * DAY)
    install(pki, new)
    assert tls.poll()
    assert not tls.poll()
    assert (tls.reloads, tls.reload_failures) == (1, 0)
    assert tls.not_after == new.certificate.not_valid_after_utc.timestamp()
    _, new_client = connect(pki, tls)
    assert serial(new_client) == new.certificate.serial_number
    assert serial(old_client) == pki.server.certificate.serial_number
    assert old_session.feed(old_client.encrypt(b"still here")) == b"still here"
    assert old_client.decrypt(old_session.encrypt(b"so am I")) == b"so am I"
    assert [message for _, message, _ in lines.lines] == ["TLS files reloaded"]


def test_a_handshake_under_way_survives_the_swap(pki: Pki) -> None:
    tls = opened(pki)
    session, client = TlsSession(tls.context), Client(pki.client_context())
    session.feed(client.handshake_step())
    install(pki, issue(pki))
    assert tls.poll()
    client.incoming.write(session.outgoing())
    client.shake_hands(session)
    assert serial(client) == pki.server.certificate.serial_number


def test_bad_files_keep_the_old_context_and_say_so_once(pki: Pki, lines: Lines) -> None:
    tls = opened(pki)
    context = tls.context
    new = issue(pki)
    pki.cert.write_bytes(new.pem)  # the key is still the old one
    for _ in range(5):
        assert not tls.poll()
    assert tls.context is context
    assert (tls.reloads, tls.reload_failures) == (0, 1)
    assert len(lines.errors()) == 1
    assert "does not belong to certificate" in lines.errors()[0]
    pki.key.unlink()
    for _ in range(5):
        assert not tls.poll()
    assert tls.reload_failures == 2
    assert "No such file" in lines.errors()[1]
    connect(pki, tls)
    pki.key.write_bytes(new.key_pem())
    assert tls.poll()
    assert (tls.reloads, tls.reload_failures) == (1, 2)
    _, client = connect(pki, tls)
    assert serial(client) == new.certificate.serial_number


def test_the_same_failure_after_a_success_is_said_again(pki: Pki, lines: Lines) -> None:
    tls = opened(pki)
    for _ in range(2):
        pki.cert.write_bytes(b"nonsense")
        assert not tls.poll()
        pki.cert.write_bytes(pki.server.pem)
        assert tls.poll()
    assert len(lines.errors()) == 2


def test_kubernetes_symlink_swap(pki: Pki) -> None:
    volume = pki.folder / "volume"

    def publish(version: str, issued: Issued) -> None:
        folder = volume / f"..{version}"
        folder.mkdir(parents=True)
        (folder / "tls.crt").write_bytes(issued.pem)
        (folder / "tls.key").write_bytes(issued.key_pem())
        previous = (volume / "..data").resolve()
        (volume / "..data_tmp").symlink_to(folder.name)
        (volume / "..data_tmp").rename(volume / "..data")
        if previous.name != "..data":
            shutil.rmtree(previous)

    publish("2026_01", pki.server)
    for name in ("tls.crt", "tls.key"):
        (volume / name).symlink_to(f"..data/{name}")
    tls = open_server_tls(TlsMode.ENFORCING, TlsFiles(volume / "tls.crt", volume / "tls.key"))
    assert tls
    assert not tls.poll()
    new = issue(pki)
    publish("2026_02", new)
    assert tls.poll()
    assert not tls.poll()
    _, client = connect(pki, tls)
    assert serial(client) == new.certificate.serial_number


def test_an_expired_certificate_is_served_at_the_start_with_a_warning(
    pki: Pki, lines: Lines
) -> None:
    install(pki, issue(pki, not_before=-2 * DAY, not_after=-DAY))
    opened(pki)
    assert [(level, message) for level, message, _ in lines.lines] == [
        ("warning", "TLS certificate is not valid now")
    ]


def test_a_reload_takes_no_certificate_that_is_not_valid_now(pki: Pki, lines: Lines) -> None:
    now = datetime.now(UTC)
    tls = opened(pki, lambda: now.timestamp())
    install(pki, issue(pki, not_before=2 * DAY, not_after=9 * DAY))
    assert not tls.poll()
    assert not tls.poll()
    assert len(lines.errors()) == 1
    assert "issue a new one" in lines.errors()[0]
    now += 3 * DAY  # the files are the same, the time is not
    assert tls.poll()
    assert tls.reloads == 1


def test_modes_and_files(pki: Pki) -> None:
    files = TlsFiles(pki.cert, pki.key)
    assert open_server_tls(TlsMode.DISABLED, files) is None
    assert open_server_tls(TlsMode.PERMISSIVE, None) is None
    with pytest.raises(TlsConfigError, match=r"set tls\.server\.certPath and tls\.server\.keyPath"):
        open_server_tls(TlsMode.ENFORCING, None)
    pki.cert.unlink()
    with pytest.raises(TlsConfigError, match="No such file"):
        open_server_tls(TlsMode.PERMISSIVE, files)


def test_a_client_follows_its_trust_bundle(pki: Pki) -> None:
    other = pki.file("trust.pem", pki.client.pem)
    tls = open_client_tls(TlsClientFiles(other))
    assert tls.not_after is None
    server = load_context(TlsFiles(pki.cert, pki.key)).context
    with pytest.raises(ssl.SSLCertVerificationError):
        Client(tls.context).shake_hands(TlsSession(server))
    other.write_bytes(pki.authority.pem)
    assert tls.poll()
    Client(tls.context).shake_hands(TlsSession(server))


async def test_run_polls_until_it_is_cancelled(
    pki: Pki, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, reloaded = asyncio.get_running_loop(), asyncio.Event()
    monkeypatch.setattr(lines, "info", lambda *_, **__: loop.call_soon_threadsafe(reloaded.set))
    tls = opened(pki)
    task = asyncio.create_task(tls.run(interval=0.001))
    install(pki, issue(pki))
    async with asyncio.timeout(30):
        await reloaded.wait()
    assert tls.reloads == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_watching_sees_contents_not_time_stamps(tmp_path: Path) -> None:
    file = tmp_path / "token"
    watch = FileWatch([file, tmp_path / "other"])
    assert not watch.changed()
    file.write_text("a")
    assert watch.changed()
    stamp = file.stat()
    file.write_text("b")
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert watch.changed(), "same inode, size and time stamp"
    file.touch()
    assert not watch.changed()
    file.unlink()
    assert watch.changed()
    file.mkdir()
    assert watch.changed()
    assert not watch.changed()
