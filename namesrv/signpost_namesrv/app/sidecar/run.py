"""Start, wait for a signal, drain, stop."""

import asyncio
import signal
import urllib.error
import urllib.request

import uvloop

from signpost_namesrv import logs
from signpost_namesrv.settings.sidecar import LoadedSidecarSettings, SidecarSettings
from signpost_namesrv.sidecar.web import Web
from signpost_namesrv.tls import ReloadingTls, TlsConfigError

from .build import BuildError, build, open_tls

log = logs.get("app")

LONGEST_DRAIN = 900.0


def run(loaded: LoadedSidecarSettings) -> int:
    """Run the sidecar until a signal; the exit code."""
    try:
        tls = open_tls(loaded.settings.tls)
        return uvloop.run(_serve(loaded.settings, tls))
    except (TlsConfigError, BuildError) as e:
        log.error("cannot start", reason=str(e))
    except OSError as e:
        log.error("cannot listen", reason=str(e))
    return 1


async def _serve(settings: SidecarSettings, tls: ReloadingTls | None) -> int:
    sidecar = build(settings, tls)
    stopping, hurrying = asyncio.Event(), asyncio.Event()

    def stop() -> None:
        (hurrying if stopping.is_set() else stopping).set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    listening = settings.listening
    web = Web(sidecar)
    background = asyncio.ensure_future(tls.run()) if tls is not None else None
    port = await sidecar.start()
    http = None
    if listening.http_port >= 0:
        http = await web.start(listening.http_bind_address, listening.http_port)
    log.info("listening", address=listening.bind_address, port=port, http=http)
    await stopping.wait()
    draining = asyncio.ensure_future(sidecar.drain.run())
    hurry = asyncio.ensure_future(hurrying.wait())
    await asyncio.wait({draining, hurry}, return_when=asyncio.FIRST_COMPLETED)
    for task in (draining, hurry, background):
        if task is not None:
            task.cancel()
    await sidecar.stop()
    if http is not None:
        await web.stop()
    log.info("stopped")
    return 0


def drain(url: str) -> str:
    """Ask a running sidecar to drain its broker, and wait; what went wrong, or nothing."""
    request = urllib.request.Request(f"{url.rstrip('/')}/v1/drain", b"", method="POST")  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=LONGEST_DRAIN):  # noqa: S310
            return ""
    except (urllib.error.URLError, OSError, ValueError) as e:
        return str(e)
