"""Name servers from an address server, or from a file."""

import asyncio
from pathlib import Path

import aiohttp

from .source import DiscoveryError, Found, parsed

MOST_BYTES = 1 << 20


class AddressServer:
    """An HTTP server that stock brokers and clients know too: `/rocketmq/nsaddr`."""

    name = "address server"

    def __init__(self, url: str, interval: float = 10.0) -> None:
        self._url = url
        self._interval = interval
        self._session: aiohttp.ClientSession | None = None

    async def look(self) -> Found:
        """Ask."""
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=5)
            self._session = aiohttp.ClientSession(timeout=timeout)
        try:
            async with self._session.get(self._url, allow_redirects=False) as answer:
                if answer.status != 200:
                    raise DiscoveryError(f"{self._url}: status {answer.status}")
                data = await answer.content.read(MOST_BYTES)
        except (aiohttp.ClientError, TimeoutError, ValueError) as e:
            raise DiscoveryError(f"{self._url}: {str(e) or type(e).__name__}") from e
        return Found(parsed(data.decode("utf-8", "replace").strip()), self._interval)

    async def close(self) -> None:
        """Hang up."""
        if self._session is not None:
            await self._session.close()
            self._session = None


class Written:
    """A file, read every second: `a:9876;b:9876`, or a line each."""

    name = "file"

    def __init__(self, path: Path, interval: float = 1.0) -> None:
        self._path = path
        self._interval = interval

    async def look(self) -> Found:
        """Read."""
        try:
            text = await asyncio.to_thread(self._read)
        except (OSError, UnicodeDecodeError) as e:
            reason = getattr(e, "strerror", None) or str(e)
            raise DiscoveryError(f"{self._path}: {reason}") from e
        return Found(parsed(text), self._interval)

    def _read(self) -> str:
        with self._path.open("rb") as file:
            lines = file.read(MOST_BYTES).decode().splitlines()
        return "\n".join(line.partition("#")[0] for line in lines)

    async def close(self) -> None:
        """Nothing is held."""
