"""The one thing a name server asks: it tells brokers that their group's smallest id changed.

Brokers listen for it on their own port only, so it takes a connection of ours.
"""

import asyncio
import itertools

from signpost_namesrv import logs
from signpost_namesrv.routes.model import MinIdChange
from signpost_namesrv.wire.codes import FLAG_ONEWAY, RequestCode
from signpost_namesrv.wire.command import Command, encode_frame

log = logs.get("notifier")

TIMEOUT_SECONDS = 3.0
MAX_AT_ONCE = 32


class Notifier:
    """Sends NOTIFY_MIN_BROKER_ID_CHANGE, a few at a time and none for long."""

    def __init__(self) -> None:
        self._opaques = itertools.count(1)
        self._places = asyncio.Semaphore(MAX_AT_ONCE)

    async def tell(self, address: str, change: MinIdChange) -> None:
        """Tell one broker. It is one-way: a broker that cannot be reached learns by its beat."""
        frame = encode_frame(self._command(change))
        try:
            host, port = _split(address)
            async with self._places, asyncio.timeout(TIMEOUT_SECONDS):
                _, writer = await asyncio.open_connection(host, port)
                writer.write(frame)
                await writer.drain()
                writer.close()
                await writer.wait_closed()
        except (OSError, ValueError, TimeoutError) as e:
            reason = str(e) or type(e).__name__
            log.warning("broker not told of the smallest id", address=address, reason=reason)
        else:
            log.info("broker told of the smallest id", address=address, id=change.min_id)

    def _command(self, change: MinIdChange) -> Command:
        fields = {
            "haBrokerAddr": change.ha_address,
            "minBrokerAddr": change.min_address,
            "minBrokerId": str(change.min_id),
            "offlineBrokerAddr": change.offline_address,
        }
        return Command(
            code=RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE,
            opaque=next(self._opaques) & 0x7FFFFFFF,
            flag=FLAG_ONEWAY,
            fields={name: value for name, value in fields.items() if value is not None},
        )


def _split(address: str) -> tuple[str, int]:
    """Brokers may call themselves anything; ValueError for what is no `host:port`."""
    host, _, digits = address.rpartition(":")
    port = int(digits)
    if not 0 < port < 65_536:
        raise ValueError(f"port {port} is not between 1 and 65535")
    return host.strip("[]"), port
