"""Contexts that follow their files: new connections get the new certificate, old ones stay."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from signpost_namesrv import logs
from signpost_namesrv.filewatch import FileWatch

from .contexts import LoadedContext, load_client_context, load_context
from .errors import TlsConfigError
from .files import TlsClientFiles, TlsFiles
from .mode import TlsMode

log = logs.get("tls")


class ReloadingTls:
    """The context for the next connection. A bad new file keeps the good old context."""

    def __init__(
        self,
        load: Callable[[], LoadedContext],
        paths: Iterable[Path],
        now: Callable[[], float] = time.time,
    ) -> None:
        self.reloads = 0
        self.reload_failures = 0
        self._load = load
        self._now = now
        # Before the first load: a change in between is then seen by the first poll.
        self._watch = FileWatch(paths)
        self._complaint: str | None = None
        self._loaded = load()
        if trouble := self._dates_trouble(self._loaded):
            log.warning("TLS certificate is not valid now", reason=trouble)

    @property
    def context(self) -> ssl.SSLContext:
        """For a new connection."""
        return self._loaded.context

    @property
    def not_after(self) -> float | None:
        """When the certificate in use ends, in seconds since the epoch."""
        return self._loaded.validity.not_after if self._loaded.validity else None

    def poll(self) -> bool:
        """Look at the files and swap the context if they changed for the good. Blocks."""
        changed = self._watch.changed()
        # After a failure every poll tries again: the reason may lie outside the files.
        if not changed and not self._complaint:
            return False
        try:
            loaded = self._load()
        except TlsConfigError as e:
            self._complain(str(e))
            return False
        trouble = self._dates_trouble(loaded)
        if trouble and not self._dates_trouble(self._loaded):
            self._complain(trouble)
            return False
        self._loaded = loaded
        self._complaint = None
        self.reloads += 1
        log.info("TLS files reloaded", not_after=self.not_after)
        return True

    async def run(self, interval: float = 5.0) -> None:
        """Poll for ever, beside the event loop: an encrypted key takes a while to open."""
        while True:
            await asyncio.sleep(interval)
            await asyncio.to_thread(self.poll)

    def _complain(self, reason: str) -> None:
        if reason != self._complaint:
            self._complaint = reason
            self.reload_failures += 1
            log.error("TLS files not reloaded, the old ones stay in use", reason=reason)

    def _dates_trouble(self, loaded: LoadedContext) -> str | None:
        validity = loaded.validity
        if validity is None or validity.covers(self._now()):
            return None
        begin, end = (
            time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
            for at in (validity.not_before, validity.not_after)
        )
        return f"the certificate is valid from {begin} to {end} only: issue a new one"


def open_server_tls(mode: TlsMode, files: TlsFiles | None) -> ReloadingTls | None:
    """Load the server's TLS for its mode; None when it will speak plain only."""
    if mode is TlsMode.DISABLED:
        return None
    if files is None:
        if mode is TlsMode.ENFORCING:
            raise TlsConfigError(
                "tls.server.mode is enforcing, but there is no certificate: "
                "set tls.server.certPath and tls.server.keyPath"
            )
        log.info("no TLS certificate is configured: plain connections only")
        return None
    return ReloadingTls(lambda: load_context(files), files.paths)


def open_client_tls(files: TlsClientFiles) -> ReloadingTls:
    """Load a client's TLS."""
    return ReloadingTls(lambda: load_client_context(files), files.paths)
