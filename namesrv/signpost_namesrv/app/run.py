"""Start, wait for a signal, stop."""

import asyncio
import gc
import signal
import time

import uvloop

from signpost_namesrv import logs
from signpost_namesrv.kvstore import KvStore, KvStoreError
from signpost_namesrv.settings import LoadedSettings, Settings
from signpost_namesrv.tls import ReloadingTls, TlsConfigError

from .nameserver import NameServer, open_parts

log = logs.get("app")


def run(loaded: LoadedSettings) -> int:
    """Run the name server until a signal; the exit code."""
    try:
        kv, tls = open_parts(loaded.settings)
    except (KvStoreError, TlsConfigError) as e:
        log.error("cannot start", reason=str(e))
        return 1
    try:
        return uvloop.run(_serve(loaded.settings, kv, tls))
    except OSError as e:
        log.error("cannot listen", reason=str(e))
        return 1


async def _serve(settings: Settings, kv: KvStore, tls: ReloadingTls | None) -> int:
    server = NameServer(settings, kv, tls)
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    await server.start()
    # What exists by now stays; a full collection over large tables would stall the loop.
    gc.freeze()
    gc.set_threshold(50_000, 20, 1_000)
    await stopping.wait()
    began = time.monotonic()
    await server.stop()
    log.info("stopped", seconds=round(time.monotonic() - began, 3))
    return 0
