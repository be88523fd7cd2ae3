"""The parts of a sidecar, joined."""

import asyncio
import random
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from signpost_namesrv import logs

from .backoff import Backoff
from .carrier import Carrier
from .declaring import Declaring
from .discovery.addresses import AddressError, split
from .discovery.roster import Roster
from .discovery.source import Source, follow
from .drain import Drain
from .endpoint import Endpoint
from .fleet import Fleet
from .link import Dialling, Link
from .listener import Bounds, Listener
from .memory import Memory
from .presence import Fate, await_fate, can_connect
from .record import Record, broker_of
from .telling import Teller

log = logs.get("sidecar")

_TICK = 1.0


@dataclass(frozen=True, slots=True)
class Options:
    """How a sidecar behaves. Times in seconds."""

    host: str = "127.0.0.1"
    port: int = 9876
    bounds: Bounds = field(default_factory=Bounds)
    dialling: Dialling = field(default_factory=Dialling)
    answer_wait: float = 1.0
    register_timeout: float = 12.0
    reconnect_first: float = 0.05
    reconnect_longest: float = 0.8
    full_again: float = 600.0
    """A name server is told in full after so long, or a little sooner, to undo any drift."""
    linger: float = 120.0
    drain_wait: float = 35.0
    broker_probe: str = ""
    """Where a broker that hung up is looked for; empty: at the address it registered."""
    memory: Path | None = None
    """Where registrations outlast the process; None: nowhere."""
    declared: Path | None = None
    beat_seconds: float = 30.0


class Sidecar:
    """Make it inside its event loop."""

    def __init__(
        self,
        options: Options,
        sources: Sequence[Source] = (),
        now: Callable[[], float] = time.monotonic,
        rand: Callable[[], float] = random.random,
    ) -> None:
        self.options = options
        self.now = now
        self._random = rand
        self._sources = sources
        self.roster = Roster((source.name for source in sources), options.linger)
        self.fleet = Fleet(self._make_link, options.answer_wait)
        self.teller = Teller(now, options.register_timeout)
        self.carrier = Carrier(self.fleet, self.teller, now)
        self.carrier.on_lost = lambda record: self._spawn(self._look_after(record))
        self.listener = Listener(self.carrier, options.bounds)
        self.drain = Drain(self.carrier, self.fleet, options.drain_wait)
        self.declaring: Declaring | None = None
        if options.declared is not None:
            self.declaring = Declaring(options.declared, self.carrier, now, options.beat_seconds)
        self._memory = Memory(options.memory) if options.memory is not None else None
        self._changed = asyncio.Event()
        self.carrier.on_change = self._changed.set
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        """Listen and look for name servers; the port."""
        port = await self.listener.start(self.options.host, self.options.port)
        for source in self._sources:
            self._spawn(follow(source, self.roster, self._update, self.now))
        if self._sources:
            self._spawn(self._tick())
        if self._memory is not None:
            self._spawn(self._remember(self._memory))
        if self.declaring is not None:
            self._spawn(self.declaring.run())
        return port

    async def stop(self) -> None:
        """Hang up everywhere."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.listener.stop()
        await self.fleet.close()
        for source in self._sources:
            await source.close()

    def _make_link(self, address: str) -> Link:
        options = self.options
        backoff = Backoff(options.reconnect_first, options.reconnect_longest, self._random)
        endpoint = Endpoint(address, backoff, self._full_again_after)
        return Link(endpoint, options.dialling, self.carrier.catch_up, self.now)

    async def _remember(self, memory: Memory) -> None:
        """Take up what an earlier sidecar knew of brokers that live; keep what is new."""
        for command in await asyncio.to_thread(memory.load):
            broker = broker_of(command)
            if broker not in self.carrier.records and await self._is_there(broker.address):
                log.info("broker remembered", broker=broker.name)
                record = await self.carrier.recall(command)
                self._spawn(self._look_after(record))
        while True:
            await self._changed.wait()
            self._changed.clear()
            kept = [
                record.registration
                for broker, record in self.carrier.records.items()
                if broker in self.carrier.owners and not record.read_only
            ]
            await asyncio.to_thread(memory.save, kept)

    def _full_again_after(self) -> float:
        return self.options.full_again * (1 - 0.5 * self._random())

    def _update(self) -> None:
        up = {link.endpoint.address for link in self.fleet.up}
        self.fleet.set(self.roster.wanted(up.__contains__, self.now()))

    async def _tick(self) -> None:
        """Let go of unlisted name servers in time."""
        while True:
            await asyncio.sleep(_TICK)
            if self.roster.leaving:
                self._update()

    async def _look_after(self, record: Record) -> None:
        """A broker hung up."""
        broker = record.broker
        log.info("broker hung up", broker=broker.name)
        fate = await await_fate(
            lambda: self._is_there(broker.address),
            lambda: broker in self.carrier.owners,
            lambda: record.fresh(self.now()),
        )
        log.info("broker that hung up", broker=broker.name, fate=fate.value)
        if fate is Fate.BACK:
            return
        self.carrier.retired.pop(broker, None)
        if not record.left:
            await self.carrier.remove(record)

    async def _is_there(self, address: str) -> bool:
        try:
            host, port = split(self.options.broker_probe or address)
        except AddressError:
            return False
        return await can_connect(host, port)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("a part of the sidecar failed", error=error)
