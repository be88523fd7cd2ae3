"""Start, wait for a signal, stop."""

import asyncio
import ctypes
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

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT_BYTES = 16 * 1024 * 1024


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
    _keep_freed_memory()
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


def _keep_freed_memory() -> None:
    """Use the memory of one large registration again for the next.

    By default glibc gives blocks of this size back at once, and touching fresh pages costs ten
    times what copying the bytes does. Other C libraries have no such switch and need none.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _KEPT_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
