"""One asynchronous client: JSON in, JSON out, patient with a busy API server."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import Any, Self

import aiohttp
import kopf

from .errors import ApiError, BusyError, ConflictError, NotFoundError, UnreachableError, refusal
from .kinds import Kind, Manifest
from .login import login

Query = Mapping[str, str]
Counted = Callable[[str, int], None]

TRIES = 5
FIRST_WAIT = 0.2
LONGEST_WAIT = 10.0
TIMEOUT = aiohttp.ClientTimeout(total=30, sock_connect=10)
PAGE = 500
JSON = "application/json"
APPLY = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"


class Api:
    """Calls to one API server. `counted` hears of every answer: verb and HTTP status."""

    def __init__(self, counted: Counted = lambda verb, status: None) -> None:
        self._counted = counted
        self._session: aiohttp.ClientSession | None = None
        self._server = ""

    async def __aenter__(self) -> Self:
        await self._connect()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def get(self, path: str, query: Query | None = None) -> Manifest:
        """One object, or whatever document is there."""
        return await self._patiently("GET", path, query)

    async def find(self, kind: Kind, namespace: str, name: str) -> Manifest | None:
        """One object, or None."""
        try:
            return await self.get(kind.path(namespace, name))
        except NotFoundError:
            return None

    async def list(
        self, kind: Kind, namespace: str | None, selector: str = ""
    ) -> AsyncIterator[Manifest]:
        """All objects of a kind, page by page."""
        query = {"limit": str(PAGE)}
        if selector:
            query["labelSelector"] = selector
        while True:
            page = await self.get(kind.path(namespace), query)
            for item in page.get("items") or ():
                yield item
            query["continue"] = page.get("metadata", {}).get("continue") or ""
            if not query["continue"]:
                return

    async def create(self, path: str, body: Manifest) -> Manifest:
        """Make an object."""
        return await self._patiently("POST", path, body=body)

    async def replace(self, path: str, body: Manifest) -> Manifest:
        """Write a whole object; a ConflictError when it is not the version last read."""
        return await self._once("PUT", path, body=body)

    async def patch(
        self, path: str, body: object, content_type: str, query: Query | None = None
    ) -> Manifest:
        """Change an object in place."""
        return await self._patiently("PATCH", path, query, body, content_type)

    async def delete(self, path: str, options: Manifest) -> None:
        """Remove an object; one that is gone already counts as removed."""
        try:
            await self._patiently("DELETE", path, body=options)
        except NotFoundError:
            return

    async def _patiently(
        self,
        verb: str,
        path: str,
        query: Query | None = None,
        body: object = None,
        content_type: str = JSON,
    ) -> Manifest:
        """Try again where that can help, waiting longer each time and never in step."""
        wait = FIRST_WAIT
        for last in (*[False] * (TRIES - 1), True):
            asked: float | None = None
            try:
                return await self._once(verb, path, query, body, content_type)
            except BusyError as error:
                if last:
                    raise
                asked = error.wait
            except ConflictError:
                # A server-side apply meets a concurrent write; a creation or deletion that
                # conflicts will go on doing so.
                if last or verb != "PATCH":
                    raise
            except UnreachableError:
                if last:
                    raise
            pause = wait if asked is None else asked
            await asyncio.sleep(min(pause, LONGEST_WAIT) * random.uniform(1.0, 1.3))  # noqa: S311
            wait *= 2
        raise AssertionError("the last try returns or raises")

    async def _once(
        self,
        verb: str,
        path: str,
        query: Query | None = None,
        body: object = None,
        content_type: str = JSON,
    ) -> Manifest:
        refused: aiohttp.ClientSession | None = None
        while True:
            session = await self._connect(refused)
            try:
                answered = await self._send(session, verb, path, query, body, content_type)
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                raise UnreachableError(f"{verb} {path}: {error or 'no answer in time'}") from error
            status, document, wait = answered
            self._counted(verb, status)
            if status == 401 and refused is None:
                refused = session
                continue
            if status < 400:
                return document
            raise refusal(
                status, str(document.get("reason", "")), str(document.get("message", "")), wait
            )

    async def _send(
        self,
        session: aiohttp.ClientSession,
        verb: str,
        path: str,
        query: Query | None,
        body: object,
        content_type: str,
    ) -> tuple[int, Manifest, float | None]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": content_type, "Accept": JSON}
        async with session.request(
            verb, self._server + path, params=query, data=data, headers=headers
        ) as response:
            return response.status, _document(await response.read()), _retry_after(response)

    async def _connect(self, refused: aiohttp.ClientSession | None = None) -> aiohttp.ClientSession:
        """The session; a new one with fresh credentials in place of one that was refused."""
        if self._session is None or self._session is refused:
            self._session, self._server = _session(login())
            if refused is not None:
                await refused.close()
        return self._session


def _session(info: kopf.ConnectionInfo) -> tuple[aiohttp.ClientSession, str]:
    secure = info.server.startswith("https")
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=info.as_ssl_context() if secure else True, limit=64),
        headers={**info.as_http_headers(), "User-Agent": "signpost-operator"},
        timeout=TIMEOUT,
        proxy=info.proxy_url,
        trust_env=info.trust_env,
    )
    return session, info.server.rstrip("/")


def _document(body: bytes) -> Manifest:
    try:
        parsed: Any = json.loads(body) if body else {}
    except ValueError:
        return {"message": body[:500].decode(errors="replace").strip()}
    return parsed if isinstance(parsed, dict) else {"items": parsed}


def _retry_after(response: aiohttp.ClientResponse) -> float | None:
    try:
        return float(response.headers["Retry-After"])
    except (KeyError, ValueError):
        return None


__all__ = ["APPLY", "JSON_PATCH", "MERGE_PATCH", "Api", "ApiError", "Query"]
