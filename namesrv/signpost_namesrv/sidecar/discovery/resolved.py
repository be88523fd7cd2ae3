"""Name servers from DNS: the addresses behind a headless Service.

With publishNotReadyAddresses on the Service, the ones not yet ready are among them.
"""

import asyncio

import dns.asyncresolver
import dns.exception
import dns.resolver

from .addresses import address
from .source import DiscoveryError, Found

SHORTEST = 1.0


class Resolved:
    """A name, looked up again when its time to live is over."""

    name = "DNS"

    def __init__(
        self,
        host: str,
        port: int,
        longest: float = 5.0,
        resolver: dns.asyncresolver.Resolver | None = None,
        patience: float = 5.0,
    ) -> None:
        """`longest` bounds the time to live: a name server must not stay unknown for minutes."""
        self._host = host
        self._port = port
        self._longest = longest
        self._resolver = resolver
        self._patience = patience

    async def look(self) -> Found:
        """Both families."""
        try:
            # Made anew each time: resolv.conf may have changed.
            resolver = self._resolver or dns.asyncresolver.Resolver()
            answers = await asyncio.gather(
                *(self._ask(resolver, kind) for kind in ("A", "AAAA")), return_exceptions=True
            )
        except dns.exception.DNSException as e:
            raise DiscoveryError(f"{self._host}: {e}") from e
        found = [a for a in answers if isinstance(a, dns.resolver.Answer)]
        if not found:
            reason = next((a for a in answers if isinstance(a, Exception)), "no address")
            raise DiscoveryError(f"{self._host}: {reason}")
        hosts = sorted(record.to_text() for answer in found for record in answer)
        ttl = min((a.rrset.ttl for a in found if a.rrset is not None), default=0)
        again = min(max(float(ttl), SHORTEST), self._longest)
        return Found(tuple(address(host, self._port) for host in hosts), again)

    async def _ask(self, resolver: dns.asyncresolver.Resolver, kind: str) -> dns.resolver.Answer:
        return await resolver.resolve(self._host, kind, search=True, lifetime=self._patience)

    async def close(self) -> None:
        """Nothing is held."""
