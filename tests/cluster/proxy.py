"""A proxy in front of the API server: counts what the operator asks for and can get in its way."""

from __future__ import annotations

import asyncio
import re
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import aiohttp
from aiohttp import web

WRITES = ("POST", "PUT", "PATCH", "DELETE")
_DROPPED = {"Transfer-Encoding", "Content-Length", "Connection", "Host", "Keep-Alive"}


@dataclass(frozen=True)
class Call:
    """One request of the operator."""

    verb: str
    path: str
    status: int


@dataclass
class Fault:
    """Answers `status` instead of the API server to the next `times` matching requests."""

    verb: str
    path: str
    status: int
    times: int
    retry_after: str | None = None
    met: int = field(default=0)


class Proxy:
    """Runs in a thread of its own, on a port of its own, without TLS."""

    def __init__(self, upstream: str, cafile: str) -> None:
        self._upstream = upstream
        self._cafile = cafile
        self._calls: list[Call] = []
        self._faults: list[Fault] = []
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop: asyncio.Event
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)
        self.url = ""

    def __enter__(self) -> Proxy:
        self._thread.start()
        assert self._ready.wait(10), "the proxy listens"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def fail(
        self, verb: str, path: str, status: int, times: int, retry_after: str | None = None
    ) -> Fault:
        """Get in the way of requests whose path matches the pattern."""
        fault = Fault(verb, path, status, times, retry_after)
        self._faults.append(fault)
        return fault

    @contextmanager
    def recorded(self) -> Iterator[Callable[[], list[Call]]]:
        """The calls from here on, watches and the Lease left out."""
        start = len(self._calls)
        yield lambda: [call for call in self._calls[start:] if "/leases" not in call.path]

    def writes(self) -> Counter[str]:
        """All writes so far, by verb."""
        return Counter(c.verb for c in self._calls if c.verb in WRITES and "/leases" not in c.path)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        tls = ssl.create_default_context(cafile=self._cafile)
        app = web.Application(client_max_size=1 << 26)
        app.router.add_route("*", "/{path:.*}", self._pass_on)
        connector = aiohttp.TCPConnector(ssl=tls, limit=0)
        async with aiohttp.ClientSession(connector=connector, auto_decompress=False) as session:
            self._session = session
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            self._ready.set()
            await self._stop.wait()
            await runner.cleanup()

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        fault = self._fault(request)
        if fault is not None:
            self._calls.append(Call(request.method, request.path, fault.status))
            headers = {"Retry-After": fault.retry_after} if fault.retry_after else {}
            body = {"kind": "Status", "code": fault.status, "message": "the test gets in the way"}
            return web.json_response(body, status=fault.status, headers=headers)
        headers = {k: v for k, v in request.headers.items() if k not in _DROPPED}
        try:
            async with self._session.request(
                request.method,
                self._upstream + request.path_qs,
                headers=headers,
                data=await request.read() or None,
                timeout=aiohttp.ClientTimeout(total=None),
            ) as answer:
                return await self._answer(request, answer)
        except aiohttp.ClientError:
            return web.Response(status=502, text="the API server is away")

    async def _answer(
        self, request: web.Request, answer: aiohttp.ClientResponse
    ) -> web.StreamResponse:
        if "watch" not in request.query:
            self._calls.append(Call(request.method, request.path, answer.status))
        response = web.StreamResponse(status=answer.status)
        for name, value in answer.headers.items():
            if name not in _DROPPED:
                response.headers[name] = value
        await response.prepare(request)
        try:
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
        except aiohttp.ClientError:
            # The other side must see that the stream broke, not that it fell silent.
            if request.transport is not None:
                request.transport.close()
        return response

    def _fault(self, request: web.Request) -> Fault | None:
        for fault in self._faults:
            hit = fault.verb == request.method and re.search(fault.path, request.path)
            if hit and fault.met < fault.times:
                fault.met += 1
                return fault
        return None
