"""A broker's orderly departure: no new messages, time for producers to see that, then away."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from enum import Enum

from signpost_namesrv import logs
from signpost_namesrv.wire.codes import RequestCode
from signpost_namesrv.wire.command import Command

from .carrier import Carrier
from .fleet import Fleet
from .record import Record
from .rules import Outcome

log = logs.get("drain")

_STEP = 0.5


class Phase(Enum):
    """How far a departure has come."""

    SERVING = "serving"
    READ_ONLY = "read-only"
    DRAINED = "drained"


class Drain:
    """Runs once at a time; asking again waits for the same end."""

    def __init__(
        self,
        carrier: Carrier,
        fleet: Fleet,
        wait: float,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.phase = Phase.SERVING
        self._carrier = carrier
        self._fleet = fleet
        self._wait = wait
        self._sleep = sleep
        self._running: asyncio.Future[None] | None = None

    async def run(self) -> None:
        """Drain every broker there is."""
        if self._running is None or self._running.done():
            self._running = asyncio.ensure_future(self._run())
        await asyncio.shield(self._running)

    async def _run(self) -> None:
        records = list(self._carrier.records.values())
        self.phase = Phase.READ_ONLY
        log.info("draining", brokers=[r.broker.name for r in records], seconds=self._wait)
        wiped = await self._carrier.make_read_only(records)
        await self._wipe(wiped)
        if self._fleet.up:
            await self._wait_for_producers(wiped)
        for record in records:
            if not record.left:
                _log("unregistered", record.broker.name, await self._carrier.retire(record))
        self.phase = Phase.DRAINED
        log.info("drained")

    async def _wait_for_producers(self, records: Collection[Record]) -> None:
        """Until they must have seen it, or nobody is left to be spared."""
        waited = 0.0
        while waited < self._wait and not all(record.left for record in records):
            pause = min(_STEP, self._wait - waited)
            await self._sleep(pause)
            waited += pause

    async def _wipe(self, records: Collection[Record]) -> None:
        """Take the write permission away, for masters only.

        It belongs to the group: taken from a slave, it would be gone from its master too.
        """
        for name in dict.fromkeys(r.broker.name for r in records):
            _log("write permission taken away", name, await self._wipe_one(name))

    async def _wipe_one(self, name: str) -> list[Outcome]:
        code, fields = RequestCode.WIPE_WRITE_PERM_OF_BROKER, {"brokerName": name}
        command = Command(code=code, opaque=0, fields=fields)
        return await self._fleet.ask_all(lambda link: link.request(command))


def _log(what: str, broker: str, outcomes: list[Outcome]) -> None:
    missing = [o.complaint for o in outcomes if not o.accepted]
    log.info(what, broker=broker, on=sum(o.accepted for o in outcomes), not_on=missing or None)
