"""The sidecar's HTTP port: health, metrics, status, and draining for those on the loopback."""

import ipaddress

from aiohttp import web

from .drain import Phase
from .metrics import Metrics
from .sidecar import Sidecar
from .status import phase, readiness, status

SIDECAR = web.AppKey("sidecar", Sidecar)
METRICS = web.AppKey("metrics", Metrics)


def make_app(sidecar: Sidecar) -> web.Application:
    """The application of one sidecar."""
    app = web.Application(client_max_size=1024)
    app[SIDECAR] = sidecar
    app[METRICS] = Metrics(sidecar)
    app.router.add_get("/healthz", _healthz)
    app.router.add_get("/readyz", _readyz)
    app.router.add_get("/metrics", _metrics)
    app.router.add_get("/v1/status", _status)
    app.router.add_post("/v1/drain", _drain)
    return app


class Web:
    """Serves it."""

    def __init__(self, sidecar: Sidecar) -> None:
        self._app = make_app(sidecar)
        self._runner: web.AppRunner

    async def start(self, host: str, port: int) -> int:
        """Listen; the port."""
        self._runner = web.AppRunner(self._app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()
        return int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Hang up."""
        await self._runner.cleanup()


async def _healthz(request: web.Request) -> web.Response:
    return web.Response(text="ok\n")


async def _readyz(request: web.Request) -> web.Response:
    ready, text = readiness(request.app[SIDECAR])
    return web.Response(text=text + "\n", status=200 if ready else 503)


async def _metrics(request: web.Request) -> web.Response:
    body = request.app[METRICS].text()
    return web.Response(
        body=body, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
    )


async def _status(request: web.Request) -> web.Response:
    return web.json_response(status(request.app[SIDECAR]))


async def _drain(request: web.Request) -> web.Response:
    """Return when the broker has left every name server."""
    if not _is_loopback(request.remote):
        raise web.HTTPForbidden(text="draining is for those on the loopback\n")
    sidecar = request.app[SIDECAR]
    await sidecar.drain.run()
    done = phase(sidecar) is Phase.DRAINED
    return web.json_response({"phase": phase(sidecar).value}, status=200 if done else 409)


def _is_loopback(remote: str | None) -> bool:
    try:
        return ipaddress.ip_address(remote or "").is_loopback
    except ValueError:
        return False
