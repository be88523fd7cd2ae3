"""What is done with each request of a broker."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from signpost_namesrv import logs
from signpost_namesrv.dispatch.replies import answer
from signpost_namesrv.dispatch.state import ORDER_NAMESPACE
from signpost_namesrv.wire.bodies import decode_data_version, decode_topic_queues
from signpost_namesrv.wire.codes import RequestCode, ResponseCode
from signpost_namesrv.wire.command import Command
from signpost_namesrv.wire.errors import BodyError

from .fleet import Fleet
from .link import Link, LinkError
from .listener import Peer
from .record import BrokerId, Record, broker_of
from .rules import Outcome, Spread, rule_for
from .telling import Teller

log = logs.get("carrier")

MOST_BROKERS = 256

_SMALL = 64 * 1024


class Carrier:
    """Carries a broker's words to all name servers, and remembers them for those to come."""

    def __init__(self, fleet: Fleet, teller: Teller, now: Callable[[], float]) -> None:
        self.records: dict[BrokerId, Record] = {}
        self.retired: dict[BrokerId, Record] = {}
        """Drained: they stay away until their process is gone."""
        self.owners: dict[BrokerId, Peer] = {}
        self.on_lost: Callable[[Record], None] = lambda record: None
        self.on_change: Callable[[], None] = lambda: None
        self._fleet = fleet
        self._teller = teller
        self._now = now
        self._changing = asyncio.Lock()
        self._special: dict[int, Callable[[Command, Peer], Awaitable[Command]]] = {
            RequestCode.REGISTER_BROKER: self._register,
            RequestCode.UNREGISTER_BROKER: self._unregister,
            RequestCode.QUERY_DATA_VERSION: self._query,
            RequestCode.BROKER_HEARTBEAT: self._beat,
            RequestCode.REGISTER_TOPIC_IN_NAMESRV: self._register_topic,
        }

    # the broker's side

    async def handle(self, request: Command, peer: Peer) -> Command:
        """Carry out a request, by the table of rules."""
        try:
            if special := self._special.get(request.code):
                return await special(request, peer)
            return await self._forward(request)
        except BodyError as e:
            return answer(request, ResponseCode.SYSTEM_ERROR, f"sidecar: {e}")

    def gone(self, peer: Peer) -> None:
        """A broker hung up."""
        for broker in [b for b, owner in self.owners.items() if owner is peer]:
            del self.owners[broker]
            if record := self.records.get(broker) or self.retired.get(broker):
                self.on_lost(record)

    # the name servers' side

    async def catch_up(self, link: Link) -> None:
        """Tell a name server that has just been reached of every broker."""
        for record in list(self.records.values()):
            if not record.fresh(self._now()):
                continue
            try:
                reply = await self._teller.tell(link, record)
            except LinkError as e:
                log.info("not caught up", endpoint=link.endpoint.address, reason=str(e))
                return
            if reply.code == ResponseCode.SUCCESS:
                link.endpoint.catch_ups += 1
                log.info("caught up", endpoint=link.endpoint.address, broker=record.broker.name)

    async def remove(self, record: Record) -> list[Outcome]:
        """Unregister a broker everywhere."""
        self._forget(record)
        cluster, name, number, address = record.broker
        fields = {"clusterName": cluster, "brokerName": name}
        fields |= {"brokerId": number, "brokerAddr": address}
        code = RequestCode.UNREGISTER_BROKER
        return await self._leave(record.broker, Command(code=code, opaque=0, fields=fields))

    async def recall(self, command: Command) -> Record:
        """Speak for a broker that registered with an earlier sidecar."""
        record = await self._absorb(command)
        await self._spread(record, command)
        return record

    async def announce(self, command: Command) -> Command:
        """Register a broker that does not speak for itself."""
        return await self._spread(await self._absorb(command), command)

    async def make_read_only(self, records: list[Record]) -> list[Record]:
        """From now on, say that these brokers take no messages; the ones that did."""
        async with self._changing:
            for record in records:
                record.make_read_only()
        return [r for r in records if r.broker.is_master]

    async def retire(self, record: Record) -> list[Outcome]:
        """Unregister a broker everywhere, and do not let it back in while it lives."""
        if record.broker in self.owners:
            self.retired[record.broker] = record
        return await self.remove(record)

    # one request each

    async def _forward(self, request: Command, *, is_beat: bool = False) -> Command:
        async def ask(link: Link) -> Command:
            reply = await link.request(request)
            if is_beat and reply.code == ResponseCode.SUCCESS:
                link.endpoint.heard(self._now())
            return reply

        rule = rule_for(request.code)
        if rule.spread is Spread.ALL:
            outcomes = await self._fleet.ask_all(ask)
        else:
            outcomes = await self._fleet.ask_one(request)
        return rule.merge(request, outcomes)

    async def _register(self, request: Command, peer: Peer) -> Command:
        broker = broker_of(request)
        if not all(broker):
            return await self._forward(request)  # name servers know how to refuse it
        if broker not in self.records and len(self.records) >= MOST_BROKERS:
            remark = f"sidecar: more than {MOST_BROKERS} brokers"
            return answer(request, ResponseCode.SYSTEM_BUSY, remark)
        self.owners[broker] = peer
        if broker in self.retired:
            return answer(request, ResponseCode.SYSTEM_ERROR, "sidecar: this broker is drained")
        return await self._spread(await self._absorb(request), request)

    async def _spread(self, record: Record, request: Command) -> Command:
        # A slave learns of its master from nothing but the answer to a registration.
        speaker = None if record.broker.is_master else next(iter(self._fleet.up), None)
        outcomes = await self._fleet.ask_all(
            lambda link: self._teller.tell(link, record, in_full=link is speaker)
        )
        reply = rule_for(request.code).merge(request, [_registered(o) for o in outcomes])
        if reply.code == ResponseCode.SUCCESS and not reply.body:
            reply = msgspec.structs.replace(reply, body=await self._order_topics())
        return reply

    async def _order_topics(self) -> bytes:
        """What the answer to a registration would carry; a version query's does not."""
        code, fields = RequestCode.GET_KVLIST_BY_NAMESPACE, {"namespace": ORDER_NAMESPACE}
        outcomes = await self._fleet.ask_one(Command(code=code, opaque=0, fields=fields))
        first = outcomes[0].answer if outcomes else None
        return first.body if first is not None and first.code == ResponseCode.SUCCESS else b""

    async def _unregister(self, request: Command, peer: Peer) -> Command:
        broker = broker_of(request)
        if record := self.records.get(broker):
            self._forget(record)
        outcomes = await self._leave(broker, request)
        return rule_for(request.code).merge(request, outcomes)

    async def _beat(self, request: Command, peer: Peer) -> Command:
        address, name = request.field("brokerAddr"), request.field("brokerName")
        for broker, record in self.records.items():
            if (broker.address, broker.name) == (address, name):
                record.last_beat = self._now()
        return await self._forward(request, is_beat=True)

    async def _query(self, request: Command, peer: Peer) -> Command:
        version = decode_data_version(request.body) if request.body else None
        record = self.records.get(broker_of(request))
        if record is not None:
            record.last_beat = self._now()
        reply = await self._forward(request, is_beat=True)
        if record is None or record.table.version != version:
            # Then no catch-up would be right either: the broker must tell.
            fields = {**(reply.fields or {}), "changed": "true"}
            reply = msgspec.structs.replace(reply, fields=fields)
        return reply

    async def _register_topic(self, request: Command, peer: Peer) -> Command:
        topic = request.field("topic")
        if topic and request.body:
            entries = decode_topic_queues(request.body)
            async with self._changing:
                for record in self.records.values():
                    record.apply(record.read_topic(topic, entries))
        return await self._forward(request)

    # what they share

    async def _absorb(self, request: Command) -> Record:
        broker = broker_of(request)
        async with self._changing:
            record = self.records.get(broker) or Record(broker)
            before = record.generation
            if len(request.body) > _SMALL:
                draft = await asyncio.to_thread(record.read, request)
            else:
                draft = record.read(request)
            record.apply(draft)
            record.last_beat = self._now()
            if not record.left:
                self.records[broker] = record
            if record.generation != before:
                self.on_change()
        return record

    def _forget(self, record: Record) -> None:
        record.left = True
        self.records.pop(record.broker, None)
        self.on_change()

    async def _leave(self, broker: BrokerId, command: Command) -> list[Outcome]:
        async def ask(link: Link) -> Command:
            async with link.lock:
                link.endpoint.forget(broker)
                return await link.request(command)

        return await self._fleet.ask_all(ask)


def _registered(outcome: Outcome) -> Outcome:
    """A version query that was enough stands for a registration without anything to tell."""
    reply = outcome.answer
    if reply is not None and reply.field("changed") is not None:
        reply = msgspec.structs.replace(reply, fields={}, body=b"")
        return outcome._replace(answer=reply)
    return outcome
