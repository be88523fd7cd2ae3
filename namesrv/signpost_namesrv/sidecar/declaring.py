"""Speaking for declared brokers: read the file, look after the brokers, beat."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import aiohttp

from signpost_namesrv import logs
from signpost_namesrv.wire.codes import ResponseCode
from signpost_namesrv.wire.command import Command

from .carrier import Carrier
from .declared import DeclarationError, DeclaredBroker, Health, parse, registration
from .discovery.addresses import split
from .presence import can_connect
from .pulse import Act, Pulse
from .record import BrokerId, broker_of

log = logs.get("declared")

MOST_BYTES = 64 << 20

Check = Callable[[Health], Awaitable[bool]]


class _Declared:
    def __init__(self, broker: DeclaredBroker, pulse: Pulse) -> None:
        self.broker = broker
        self.pulse = pulse
        self.command: Command = registration(broker)


class Declaring:
    """Keeps what a file declares registered, as long as it is well."""

    def __init__(
        self,
        path: Path,
        carrier: Carrier,
        now: Callable[[], float],
        beat_seconds: float = 30.0,
        look_seconds: float = 2.0,
        check: Check | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.error = ""
        self._path = path
        self._carrier = carrier
        self._now = now
        self._beat_seconds = beat_seconds
        self._look_seconds = look_seconds
        self._check = check or is_well
        self._environment = environment
        self._read: bytes | None = None
        self._brokers: dict[BrokerId, _Declared] = {}

    @property
    def pulses(self) -> dict[BrokerId, Pulse]:
        """How every declared broker is doing."""
        return {broker: declared.pulse for broker, declared in self._brokers.items()}

    async def run(self) -> None:
        """For ever."""
        while True:
            await self.look()
            await asyncio.sleep(self._look_seconds)

    async def look(self) -> None:
        """One look at the file and at every broker."""
        await self._reread()
        await asyncio.gather(*(self._look_after(d) for d in list(self._brokers.values())))

    async def _reread(self) -> None:
        try:
            text = await asyncio.to_thread(self._contents)
            if text == self._read:
                return
            brokers = parse(text, str(self._path), self._environment)
        except (OSError, DeclarationError) as e:
            if str(e) != self.error:
                self.error = str(e)
                log.error("declared brokers not read, the old ones stay", reason=self.error)
            return
        self._read, self.error = text, ""
        await self._become(brokers)

    def _contents(self) -> bytes:
        with self._path.open("rb") as file:
            return file.read(MOST_BYTES)

    async def _become(self, brokers: list[DeclaredBroker]) -> None:
        old, self._brokers = self._brokers, {}
        for broker in brokers:
            declared = _Declared(broker, Pulse(self._beat_seconds))
            key = broker_of(declared.command)
            if before := old.pop(key, None):
                declared.pulse = before.pulse
                if before.command != declared.command:
                    declared.pulse.changed()
            self._brokers[key] = declared
        log.info("declared brokers read", brokers=[b.name for b in self._brokers])
        for broker_id in old:
            await self._leave(broker_id)

    async def _look_after(self, declared: _Declared) -> None:
        act = declared.pulse.looked(await self._check(declared.broker.probe), self._now())
        if act is Act.LEAVE:
            log.warning("declared broker is not well", broker=declared.broker.name)
            await self._leave(broker_of(declared.command))
        elif act is Act.BEAT:
            reply = await self._carrier.announce(declared.command)
            if reply.code != ResponseCode.SUCCESS:
                log.warning("declared broker not registered", reason=reply.remark)

    async def _leave(self, broker: BrokerId) -> None:
        if record := self._carrier.records.get(broker):
            await self._carrier.remove(record)


async def is_well(health: Health) -> bool:
    """Connect, or ask by HTTP for anything below 400."""
    if health.http is None:
        return await can_connect(*split(health.tcp or ""), health.timeout)
    try:
        timeout = aiohttp.ClientTimeout(total=health.timeout)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(health.http, allow_redirects=False) as answer,
        ):
            return answer.status < 400
    except (aiohttp.ClientError, TimeoutError, ValueError):
        return False
