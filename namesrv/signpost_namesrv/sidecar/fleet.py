"""All name servers that are known: links that come and go, and asking all or one of them."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

from signpost_namesrv import logs
from signpost_namesrv.wire.codes import ResponseCode
from signpost_namesrv.wire.command import Command

from .endpoint import Endpoint
from .link import Link, LinkError
from .rules import Outcome

log = logs.get("fleet")

LinkMaker = Callable[[str], Link]


class Fleet:
    """The links by address, in the order in which discovery gave them."""

    def __init__(self, make_link: LinkMaker, answer_wait: float = 1.0) -> None:
        self._make_link = make_link
        self._answer_wait = answer_wait
        self._links: dict[str, Link] = {}
        self._runs: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def links(self) -> list[Link]:
        """Every one."""
        return list(self._links.values())

    @property
    def endpoints(self) -> list[Endpoint]:
        """What is known of every one."""
        return [link.endpoint for link in self._links.values()]

    @property
    def up(self) -> list[Link]:
        """The ones that can be asked."""
        return [link for link in self._links.values() if link.endpoint.up]

    def set(self, addresses: Iterable[str]) -> None:
        """Keep links to exactly these."""
        wanted = list(dict.fromkeys(addresses))
        for address in [a for a in self._links if a not in wanted]:
            del self._links[address]
            self._runs.pop(address).cancel()
            log.info("name server dropped", endpoint=address)
        for address in wanted:
            if address not in self._links:
                log.info("name server found", endpoint=address)
                self._links[address] = link = self._make_link(address)
                self._runs[address] = asyncio.create_task(link.run())
        self._links = {address: self._links[address] for address in wanted}

    async def close(self) -> None:
        """Hang up everywhere."""
        tasks = [*self._runs.values(), *self._tasks]
        self._links.clear()
        self._runs.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def ask_all(self, ask: Callable[[Link], Awaitable[Command]]) -> list[Outcome]:
        """Ask every link at once; wait until all answered, or some time and one accepted.

        Those who are slow go on being asked, though nobody waits for them any more.
        """
        tasks = {link: self.spawn(_outcome(link, ask)) for link in self.up}
        waiting = set(tasks.values())
        if waiting:
            _, waiting = await asyncio.wait(waiting, timeout=self._answer_wait)
        while waiting and not any(t.done() and t.result().accepted for t in tasks.values()):
            _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        return [_said(link, tasks.get(link)) for link in self.links]

    async def ask_one(self, command: Command) -> list[Outcome]:
        """Ask one link, and one more when that failed; the last outcome first."""
        outcomes: list[Outcome] = []
        for link in sorted(self.up, key=_trouble)[:2]:
            outcomes.insert(0, await _outcome(link, lambda one: one.request(command)))
            reply = outcomes[0].answer
            if reply is not None and reply.code not in _TRY_ELSEWHERE:
                break
        return outcomes or [_said(link, None) for link in self.links]

    def spawn(self, work: Coroutine[Any, Any, Outcome]) -> asyncio.Task[Outcome]:
        """Do it beside the rest."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


_TRY_ELSEWHERE = frozenset({ResponseCode.SYSTEM_ERROR, ResponseCode.SYSTEM_BUSY})


def _trouble(link: Link) -> bool:
    return bool(link.endpoint.last_error)


async def _outcome(link: Link, ask: Callable[[Link], Awaitable[Command]]) -> Outcome:
    address = link.endpoint.address
    try:
        return Outcome(address, await ask(link))
    except LinkError as e:
        return Outcome(address, error=str(e))


def _said(link: Link, task: asyncio.Task[Outcome] | None) -> Outcome:
    address = link.endpoint.address
    if task is None:
        return Outcome(address, error=link.endpoint.last_error or "not connected")
    return task.result() if task.done() else Outcome(address, error="no answer yet")
