"""One cluster's name servers, beat after beat: do they still tell the same?

Routes travel, so two name servers may differ for a moment. What differs at two beats in a row is
told; what only changes quickly is not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from .ask import Asker, AskError, Reply
from .compare_routes import Difference, Routes, difference, routes_of
from .pods import PodFacts

Agreement = Literal["same", "settling", "differ", "unknown"]


@dataclass(frozen=True, slots=True)
class Sight:
    """What the last beat saw."""

    replies: Mapping[str, Reply] = field(default_factory=dict)
    """By pod."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """Why a pod could not be asked, by pod."""
    agreement: Agreement = "unknown"
    lasting: Difference = field(default_factory=Difference)
    """What differs since at least a beat."""
    knows: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The pods that know a broker group, by group."""
    writable: frozenset[str] = frozenset()
    kv: Mapping[str, Mapping[str, str]] | None = None
    """The KV configuration, when all name servers agree on it."""
    beats: int = 0


class Watcher:
    """Remembers of one cluster what the next beat is compared with."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._routes: dict[str, Routes] = {}
        self._before = Difference()
        self.sight = Sight()

    async def beat(self, pods: Sequence[PodFacts]) -> bool:
        """Ask all pods that can be asked; whether there is anything new to tell."""
        asked = [pod for pod in pods if pod.ip and not pod.stopping]
        replies: dict[str, Reply] = {}
        failures: dict[str, str] = {}
        answers = await asyncio.gather(
            *[self._asker.status(pod.ip) for pod in asked], return_exceptions=True
        )
        for pod, answer in zip(asked, answers, strict=True):
            if isinstance(answer, Reply):
                replies[pod.name] = answer
            elif isinstance(answer, AskError):
                failures[pod.name] = str(answer)
            else:
                raise answer
        addresses = {pod.name: pod.ip for pod in asked}
        await self._fetch(replies, addresses, failures)
        before, self.sight = self.sight, self._see(replies, failures)
        return _tellable(before) != _tellable(self.sight)

    async def _fetch(
        self, replies: Mapping[str, Reply], addresses: Mapping[str, str], failures: dict[str, str]
    ) -> None:
        """Get the routes behind each digest that is not known yet, from one who has it."""
        holders = {_key(reply): pod for pod, reply in replies.items()}
        for stale in self._routes.keys() - holders.keys():
            del self._routes[stale]
        for key, pod in holders.items():
            if key in self._routes:
                continue
            try:
                routes = await asyncio.to_thread(
                    routes_of, await self._asker.snapshot(addresses[pod])
                )
            except AskError as error:
                failures[pod] = str(error)
            else:
                self._routes[f"{routes.digest} {routes.kv_digest}"] = routes

    def _see(self, replies: Mapping[str, Reply], failures: Mapping[str, str]) -> Sight:
        warm = {pod: reply for pod, reply in replies.items() if reply.ready}
        agreement, lasting = self._compare(warm)
        knows: dict[str, set[str]] = {}
        writable: set[str] = set()
        for pod, reply in warm.items():
            routes = self._routes.get(_key(reply))
            for group in routes.brokers if routes else ():
                knows.setdefault(group, set()).add(pod)
            writable |= routes.writable if routes else set()
        kvs = {reply.kv_digest for reply in warm.values()}
        agreed = next((r.kv for r in self._routes.values() if {r.kv_digest} == kvs), None)
        return Sight(
            replies=replies,
            failures=failures,
            agreement=agreement,
            lasting=lasting,
            knows={group: frozenset(pods) for group, pods in knows.items()},
            writable=frozenset(writable),
            kv=agreed,
            beats=self.sight.beats + 1,
        )

    def _compare(self, warm: Mapping[str, Reply]) -> tuple[Agreement, Difference]:
        if not warm:
            self._before = Difference()
            return "unknown", Difference()
        if len({reply.digest for reply in warm.values()}) == 1:
            self._before = Difference()
            return "same", Difference()
        known = [
            self._routes[key] for key in {_key(r) for r in warm.values()} if key in self._routes
        ]
        now = difference(known) if len(known) > 1 else Difference()
        lasting, self._before = now & self._before, now
        return ("differ", lasting) if lasting else ("settling", Difference())


def _key(reply: Reply) -> str:
    return f"{reply.digest} {reply.kv_digest}"


def _tellable(sight: Sight) -> tuple[object, ...]:
    """What a status shows of it: not the number of the beat."""
    return (
        sight.replies,
        sight.failures,
        sight.agreement,
        sight.lasting,
        sight.knows,
        sight.writable,
        sight.kv,
    )
