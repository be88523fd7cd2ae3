"""One name server, its parts made from the settings and joined."""

import asyncio
import time

from signpost_namesrv import logs
from signpost_namesrv.dispatch.state import Access, State
from signpost_namesrv.dispatch.warmup import Warmup
from signpost_namesrv.http import Context, HttpService
from signpost_namesrv.kvstore import KvStore
from signpost_namesrv.routes.model import MinIdChange
from signpost_namesrv.routes.tables import Tables
from signpost_namesrv.server.server import Server, listening_socket
from signpost_namesrv.settings import Settings
from signpost_namesrv.tls import ReloadingTls, TlsMode, open_server_tls

from . import translate
from .adapters import KvConfig, Remoting, TlsDoor
from .config import RunningConfig
from .journal import log_changes

log = logs.get("app")

KV_LOG_SECONDS = 600
CLOSING_SECONDS = 2.0
"""What is left of the grace period for closing, when clients are given time to move away."""


class NameServer:
    """Everything between the settings and the sockets. Make it inside its event loop."""

    def __init__(self, settings: Settings, kv: KvStore, tls: ReloadingTls | None) -> None:
        self._settings = settings
        self._kv = kv
        self._tls = tls
        tables = Tables(settings.routes.change_log_size)
        log_changes(tables.log)
        self._config = RunningConfig(settings)
        self.state = State(
            tables=tables,
            kv=KvConfig(kv),
            config=self._config,
            now_ms=now_ms,
            notify=_nobody,
            warmup=_warmup(settings),
            access=Access(
                settings.access.admin_addresses, frozenset(settings.access.admin_cert_names)
            ),
        )
        self.server = Server(
            self.state,
            translate.limits(settings.network),
            TlsDoor(TlsMode(settings.tls.server_mode), tls),
            scan_interval=settings.routes.scan_not_active_broker_interval / 1000,
        )
        kv.add_listener(self.server.fastpath.kv_changed)
        self._config.on_change(self._apply)
        self._http: HttpService | None = None

    async def start(self) -> None:
        """Listen."""
        network = self._settings.network
        port = await self.server.start(
            network.bind_address, network.listen_port, network.server_socket_backlog
        )
        if self._tls is not None:
            self.server.spawn(self._tls.run())
        self.server.spawn(self._log_kv())
        log.info("listening", address=network.bind_address, port=port)
        if network.http_port >= 0:
            await self._start_http(port)

    async def stop(self) -> None:
        """Not ready at once; be done within the grace period."""
        shutdown = self._settings.shutdown
        grace = float(shutdown.shutdown_wait_time_seconds)
        self.state.draining = True
        log.info("stopping", connections=self.server.connections, grace_seconds=grace)
        if shutdown.enable_shutdown_gracefully and grace > CLOSING_SECONDS:
            await asyncio.sleep(grace - CLOSING_SECONDS)
            grace = CLOSING_SECONDS
        await asyncio.gather(self.server.stop(grace), self._stop_http())
        await self._kv.flush()

    async def _start_http(self, remoting_port: int) -> None:
        network = self._settings.network
        sock = listening_socket(
            network.bind_address, network.http_port, network.peer_timeout_seconds
        )
        port = int(sock.getsockname()[1])
        context = Context(
            state=self.state,
            kv=self._kv,
            remoting=Remoting(self.server),
            run_job=self.server.writer.run,
            tls=self._tls,
            options=translate.http(self._settings, remoting_port, port),
        )
        self._kv.add_listener(context.kv_changed)
        self._http = HttpService(context)
        await self._http.start(sock)
        log.info("listening for HTTP", address=network.bind_address, port=port)

    async def _stop_http(self) -> None:
        if self._http is not None:
            await self._http.stop()

    def _apply(self, settings: Settings) -> None:
        """Put the settings that may change into force."""
        self.state.policy = translate.policy(settings.routes)
        self.state.reads = translate.reads(settings.routes)
        self.state.warmup.enabled = settings.warmup.need_wait_for_service
        self.server.fastpath.clear()
        # Under other rules the same registration may do something else: read the next ones.
        self.state.tables.incomplete.update(self.state.tables.groups)

    async def _log_kv(self) -> None:
        """Write down what is configured, now and then, as stock servers do."""
        while True:
            await asyncio.sleep(KV_LOG_SECONDS)
            for fields in self._kv.describe():
                log.info("KV config", **fields)


def open_parts(settings: Settings) -> tuple[KvStore, ReloadingTls | None]:
    """Read the files that a name server needs; what is wrong with them stops the start."""
    mode = TlsMode(settings.tls.server_mode)
    tls = open_server_tls(mode, translate.tls_files(settings.tls))
    return KvStore.open(settings.files.kv_config_path), tls


_EPOCH_NS = time.time_ns() - time.monotonic_ns()


def now_ms() -> int:
    """Wall-clock time that never steps: a step would make every broker look silent.

    Change logs of several servers are compared by it, so it starts from the wall clock.
    """
    return (_EPOCH_NS + time.monotonic_ns()) // 1_000_000


def _warmup(settings: Settings) -> Warmup:
    warmup = settings.warmup
    return Warmup(
        enabled=warmup.need_wait_for_service,
        started_ms=now_ms(),
        wait_ms=warmup.wait_seconds_for_service * 1000,
        expected=warmup.expected_brokers,
    )


def _nobody(change: MinIdChange) -> None:
    """Stands in until the server is there."""
