"""Name servers' answers over HTTP, a bounded number at a time, each within a bounded time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import aiohttp

AT_ONCE = 64


class AskError(Exception):
    """A name server did not give the answer that was asked for; says why in a few words."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a name server says of itself."""

    identity: str
    digest: str
    kv_digest: str
    ready: bool
    brokers: int
    topics: int


class Asker:
    """Asks name servers. `counted` hears of every outcome: answered or failed."""

    def __init__(
        self, port: int, seconds: float, counted: Callable[[str], None] = lambda outcome: None
    ) -> None:
        self._port = port
        self._seconds = seconds
        self._counted = counted
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def status(self, ip: str) -> Reply:
        """`/v1/status`, which is cheap."""
        answer = await self._get(ip, "/v1/status", 1.0)
        try:
            return Reply(
                identity=str(answer["identity"]),
                digest=str(answer["digest"]),
                kv_digest=str(answer["kv_digest"]),
                ready=bool(answer["ready"]),
                brokers=int(answer["counts"]["brokers"]),
                topics=int(answer["counts"]["topics"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise AskError("its status is not what a Signpost name server tells") from error

    async def snapshot(self, ip: str) -> dict[str, Any]:
        """`/v1/snapshot`: everything, which takes longer."""
        answer = await self._get(ip, "/v1/snapshot", 10.0)
        if not isinstance(answer, dict):
            raise AskError("its snapshot is not an object")
        return answer

    async def _get(self, ip: str, path: str, patience: float) -> Any:
        if self._session is None:
            self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=AT_ONCE))
        host = f"[{ip}]" if ":" in ip else ip
        try:
            async with (
                self._slots,
                asyncio.timeout(self._seconds * patience),
                self._session.get(f"http://{host}:{self._port}{path}") as response,
            ):
                if response.status == 401:
                    raise AskError("reading needs a token, which the operator does not have")
                if response.status != 200:
                    raise AskError(f"HTTP status {response.status}")
                body = await response.read()
            # A snapshot of many topics would hold the loop up for a while.
            parsed = (
                await asyncio.to_thread(json.loads, body) if len(body) > 65536 else json.loads(body)
            )
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            self._counted("failed")
            why = str(error) or f"no answer within {self._seconds * patience:g} s"
            raise AskError(why) from error
        except ValueError as error:
            self._counted("failed")
            raise AskError("its answer is not JSON") from error
        self._counted("answered")
        return parsed
