"""Name servers from Kubernetes: the EndpointSlices of a Service, listed and watched.

Ready or not, every address counts: a fresh name server must know the routes before clients
may reach it.
"""

import json
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from .addresses import address
from .source import DiscoveryError, Found

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
WATCH_SECONDS = 300
_LONGEST_LINE = 4 << 20


class SliceBook:
    """The slices of one Service as they are now. Pure."""

    def __init__(self, port: int) -> None:
        self.version = ""
        self._port = port
        self._slices: dict[str, tuple[str, ...]] = {}

    def replace(self, listing: Mapping[str, Any]) -> None:
        """Begin anew from a list."""
        self.version = listing["metadata"]["resourceVersion"]
        self._slices = {_name(item): _addresses(item) for item in listing.get("items") or ()}

    def apply(self, event: Mapping[str, Any]) -> bool:
        """One event of a watch; whether the addresses changed. LookupError: list again."""
        kind, item = event["type"], event["object"]
        if kind == "ERROR":
            raise LookupError(str(item.get("message") or "the watch ended"))
        self.version = item["metadata"]["resourceVersion"]
        before = self.addresses()
        if kind == "DELETED":
            self._slices.pop(_name(item), None)
        elif kind in ("ADDED", "MODIFIED"):
            self._slices[_name(item)] = _addresses(item)
        return self.addresses() != before

    def addresses(self) -> tuple[str, ...]:
        """Every address once, in a steady order."""
        every: set[str] = {host for hosts in self._slices.values() for host in hosts}
        return tuple(address(host, self._port) for host in sorted(every))


def _name(item: Mapping[str, Any]) -> str:
    return str(item["metadata"]["name"])


def _addresses(item: Mapping[str, Any]) -> tuple[str, ...]:
    if item.get("addressType") == "FQDN":
        return ()
    endpoints: Iterable[Mapping[str, Any]] = item.get("endpoints") or ()
    return tuple(str(host) for endpoint in endpoints for host in endpoint.get("addresses") or ())


@dataclass(frozen=True, slots=True)
class Service:
    """Which Service, and how to ask about it."""

    api: str
    namespace: str
    name: str
    port: int
    account: Path = SERVICE_ACCOUNT

    @property
    def url(self) -> str:
        """Of its slices."""
        path = f"/apis/discovery.k8s.io/v1/namespaces/{self.namespace}/endpointslices"
        return self.api.rstrip("/") + path


class Slices:
    """Asks the API server with the pod's service account, which is read anew for each request."""

    name = "EndpointSlices"

    def __init__(self, service: Service) -> None:
        self._service = service
        self._book = SliceBook(service.port)
        self._session: aiohttp.ClientSession | None = None
        self._watch: aiohttp.ClientResponse | None = None

    async def look(self) -> Found:
        """List at first, then wait for the watch to bring something new."""
        try:
            if not self._book.version:
                await self._list()
            else:
                await self._next_change()
        except (aiohttp.ClientError, TimeoutError, OSError) as e:
            await self._end_watch()
            raise DiscoveryError(f"{self._service.url}: {str(e) or type(e).__name__}") from e
        except (ValueError, LookupError, TypeError) as e:
            # A malformed answer, or a version that the API server no longer has.
            await self.close()
            raise DiscoveryError(f"{self._service.url}: {e}") from e
        return Found(self._book.addresses(), 0.0)

    async def _list(self) -> None:
        async with await self._get({}) as answer:
            self._book.replace(await answer.json())

    async def _next_change(self) -> None:
        if self._watch is None:
            watch = {"watch": "1", "allowWatchBookmarks": "true"}
            watch |= {"resourceVersion": self._book.version, "timeoutSeconds": str(WATCH_SECONDS)}
            self._watch = await self._get(watch)
        while line := await self._watch.content.readline():
            if self._book.apply(json.loads(line)):
                return
        await self._end_watch()

    async def _get(self, query: Mapping[str, str]) -> aiohttp.ClientResponse:
        if self._session is None:
            timeout = aiohttp.ClientTimeout(sock_connect=5, sock_read=WATCH_SECONDS + 30)
            self._session = aiohttp.ClientSession(
                timeout=timeout, read_bufsize=_LONGEST_LINE, connector=self._connector()
            )
        token = (self._service.account / "token").read_text().strip()
        selector = f"kubernetes.io/service-name={self._service.name}"
        answer = await self._session.get(
            self._service.url,
            params={"labelSelector": selector, **query},
            headers={"Authorization": f"Bearer {token}"},
        )
        if answer.status != 200:
            answer.release()
            if answer.status == 410:
                raise LookupError("the version is gone")
            raise DiscoveryError(f"{self._service.url}: status {answer.status}")
        return answer

    def _connector(self) -> aiohttp.TCPConnector:
        if not self._service.api.startswith("https:"):
            return aiohttp.TCPConnector()
        authority = self._service.account / "ca.crt"
        return aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=str(authority)))

    async def _end_watch(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    async def close(self) -> None:
        """Hang up, and begin with a list next time."""
        await self._end_watch()
        self._book.version = ""
        if self._session is not None:
            await self._session.close()
            self._session = None
