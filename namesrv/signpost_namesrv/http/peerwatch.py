"""What the other name servers say of themselves, asked every few seconds.

Name servers never share routes. They compare digests, so that somebody notices when a broker has
reached one of them and not the other.
"""

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass

import msgspec
from aiohttp import ClientError, ClientSession, ClientTimeout, web
from yarl import URL

from signpost_namesrv import logs

from .auth import Tokens
from .context import CONTEXT, Context
from .options import PeerOptions

log = logs.get("peers")

MAX_PEERS = 64
_MAX_STATUS = 64 * 1024
STATES = ("agrees", "differs", "disagrees", "not ready", "unreachable")


class PeerStatus(msgspec.Struct, frozen=True):
    """The part of a peer's /v1/status that matters here; it may be of another version."""

    identity: str
    revision: int
    digest: str
    kv_digest: str
    ready: bool
    time_ms: int
    remoting: str


@dataclass(slots=True)
class Peer:
    """One other name server."""

    url: str
    status: PeerStatus | None = None
    error: str | None = "not asked yet"
    failures: int = 0
    checked_ms: int = 0
    routes_differ: bool = False
    kv_differ: bool = False
    differs_since_ms: int | None = None
    disagrees: bool = False

    @property
    def name(self) -> str:
        """What it is called in paths."""
        return URL(self.url).authority

    @property
    def state(self) -> str:
        """One of STATES."""
        if self.error is not None or self.status is None:
            return "unreachable"
        if not self.status.ready:
            return "not ready"
        if self.differs_since_ms is None:
            return "agrees"
        return "disagrees" if self.disagrees else "differs"


class PeerWatch:
    """All of them."""

    def __init__(self, context: Context, tokens: Tokens) -> None:
        self._context = context
        self._tokens = tokens
        self._options: PeerOptions = context.options.peers
        self._resolved: list[str] = []
        self._peers: dict[str, Peer] = {}
        self._own_urls: set[str] = set()
        self.comparing = 0
        self.session: ClientSession

    @property
    def configured(self) -> bool:
        """Whether there is anybody to ask."""
        return bool(self._options.urls or self._options.service)

    @property
    def peers(self) -> list[Peer]:
        """The others, in a stable order; this server itself is none of them."""
        return [p for url, p in sorted(self._peers.items()) if url not in self._own_urls]

    def counts(self) -> dict[str, int]:
        """How many are in which state."""
        found = Counter(peer.state for peer in self.peers)
        return {state: found[state] for state in STATES}

    def headers(self) -> dict[str, str]:
        """What a peer wants to see: all have the same token file."""
        token = self._tokens.own
        return {} if token is None else {"Authorization": f"Bearer {token}"}

    async def poll(self) -> None:
        """Ask everybody once."""
        urls = dict.fromkeys([*self._options.urls, *await self._resolve()])
        wanted = list(urls)[:MAX_PEERS]
        self._peers = {url: self._peers.get(url) or Peer(url) for url in wanted}
        await asyncio.gather(*(self._ask(peer) for peer in self._peers.values()))

    async def _resolve(self) -> list[str]:
        """The addresses behind the service; when that fails, those known before."""
        service = self._options.service
        if not service:
            return []
        host, colon, port = service.rpartition(":")
        if not colon:
            host, port = service, str(self._options.default_port)
        try:
            async with asyncio.timeout(self._options.timeout):
                found = await asyncio.get_running_loop().getaddrinfo(
                    host, int(port), type=socket.SOCK_STREAM
                )
        except (OSError, ValueError, TimeoutError) as e:
            log.warning("peers not resolved", service=service, reason=str(e) or "timed out")
            return self._resolved
        addresses = {str(info[4][0]) for info in found}
        hosts = [f"[{address}]" if ":" in address else address for address in sorted(addresses)]
        self._resolved = [f"http://{host}:{port}" for host in hosts]
        return self._resolved

    async def _ask(self, peer: Peer) -> None:
        try:
            status = await self._fetch(peer.url)
        except (ClientError, OSError, ValueError, TimeoutError) as e:
            peer.failures += 1
            peer.error = str(e) or "timed out"
            peer.differs_since_ms = None
        else:
            peer.failures, peer.error, peer.status = 0, None, status
            self._compare(peer, status)
        peer.checked_ms = self._context.state.now_ms()

    async def _fetch(self, url: str) -> PeerStatus:
        body = b""
        async with self.session.get(
            f"{url}/v1/status", headers=self.headers(), allow_redirects=False
        ) as response:
            if response.status != 200:
                raise ValueError(f"its status has status {response.status}")
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > _MAX_STATUS:
                    raise ValueError("its status is too large")
        return msgspec.json.decode(body, type=PeerStatus)  # its errors are ValueErrors

    def _compare(self, peer: Peer, status: PeerStatus) -> None:
        if status.identity == self._context.identity:
            self._own_urls.add(peer.url)
            return
        self._own_urls.discard(peer.url)
        state, was = self._context.state, peer.disagrees
        peer.routes_differ = status.digest != str(state.tables.digest)
        peer.kv_differ = status.kv_digest != self._context.kv.digest()
        now = state.now_ms()
        warm = status.ready and state.not_ready() is None
        if warm and (peer.routes_differ or peer.kv_differ):
            peer.differs_since_ms = peer.differs_since_ms or now
        else:
            peer.differs_since_ms = None
        since = peer.differs_since_ms
        peer.disagrees = since is not None and now - since > self._options.disagree_after * 1000
        if peer.disagrees != was:
            write = log.warning if peer.disagrees else log.info
            word = "peer disagrees" if peer.disagrees else "peer agrees again"
            write(word, peer=peer.name, routes=peer.routes_differ, kv=peer.kv_differ)


PEERS = web.AppKey("peers", PeerWatch)


async def watch_peers(app: web.Application) -> None:
    """Ask again and again."""
    peers = app[PEERS]
    while peers.configured:
        await peers.poll()
        await asyncio.sleep(app[CONTEXT].options.peers.poll)


async def peer_session(app: web.Application) -> AsyncIterator[None]:
    """The HTTP client, while the application runs."""
    timeout = ClientTimeout(total=app[CONTEXT].options.peers.timeout)
    async with ClientSession(timeout=timeout) as session:
        app[PEERS].session = session
        yield
