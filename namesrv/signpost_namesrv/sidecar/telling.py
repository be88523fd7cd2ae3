"""Bringing one name server up to date with one broker, with as few bytes as that takes."""

from collections.abc import Callable
from dataclasses import dataclass

from signpost_namesrv.wire.codes import ResponseCode
from signpost_namesrv.wire.command import Command

from .endpoint import Need
from .link import Link, LinkError
from .record import Record


@dataclass(slots=True)
class Sums:
    """What was sent, and what was not."""

    full: int = 0
    increments: int = 0
    queries: int = 0
    bytes_saved: int = 0
    """By asking for the data version where the broker registered in full."""


class Teller:
    """Tells name servers of brokers."""

    def __init__(self, now: Callable[[], float], register_timeout: float = 12.0) -> None:
        self.sums = Sums()
        self._now = now
        self._timeout = register_timeout

    async def tell(self, link: Link, record: Record, *, in_full: bool = False) -> Command:
        """Register the broker, or renew its registration; the name server's answer.

        Whatever was to be said when this was called is said of the record as it is when the
        link is free: a slow server is not told of what has passed.
        """
        async with link.lock:
            if record.left:
                raise LinkError("the broker has left")
            need = Need.FULL if in_full else link.endpoint.need(record, self._now())
            if need is Need.BEAT:
                reply = await self._query(link, record)
                if reply is not None:
                    return reply
                need = Need.FULL
            return await self._register(link, record, need)

    async def _query(self, link: Link, record: Record) -> Command | None:
        generation, query = record.generation, record.version_query()
        reply = await link.request(query)
        if reply.code != ResponseCode.SUCCESS or reply.field("changed") != "false":
            return None
        self.sums.queries += 1
        self.sums.bytes_saved += len(record.registration.body) - len(query.body)
        link.endpoint.accepted(record.broker, generation, self._now(), full=False)
        return reply

    async def _register(self, link: Link, record: Record, need: Need) -> Command:
        generation, command = record.generation, record.registration
        if need is Need.INCREMENT:
            command = record.increment_after(generation - 1) or command
            self.sums.increments += 1
        else:
            self.sums.full += 1
        reply = await link.request(command, self._timeout)
        if reply.code == ResponseCode.SUCCESS:
            full = need is Need.FULL
            link.endpoint.accepted(record.broker, generation, self._now(), full=full)
        else:
            link.endpoint.refused(record.broker, f"code {reply.code}: {reply.remark}")
        return reply
