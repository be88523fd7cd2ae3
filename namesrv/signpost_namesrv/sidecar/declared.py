"""Brokers that cannot register themselves: what a YAML file says of them. Pure.

brokers:
  - cluster: DefaultCluster
    name: broker-a
    id: 0
    address: 10.0.0.1:10911
    haAddress: 10.0.0.1:10912
    topics:
      - {name: orders, readQueues: 8, writeQueues: 8, perm: 6}
    health: {tcp: 10.0.0.1:10911}      # or {http: http://10.0.0.1:8080/healthz}

`$(NAME)` stands for a variable of the environment: one file can serve many pods.
"""

import hashlib
import ipaddress
import re
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from signpost_namesrv.wire.bodies import DataVersion
from signpost_namesrv.wire.codes import PERM_INHERIT, RequestCode
from signpost_namesrv.wire.command import Command
from signpost_namesrv.wire.registration import TopicConfig

from .discovery.addresses import AddressError, split
from .packing import Table, pack

_VARIABLE = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_]*)\)")


class DeclarationError(Exception):
    """The file cannot be used; the message says where and why."""


class DeclaredTopic(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True
):
    """A topic of a declared broker."""

    name: str
    read_queues: int = 4
    write_queues: int = 4
    perm: int = 6


class Health(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How to know that the broker is well; by default, that its address can be connected to."""

    tcp: str | None = None
    http: str | None = None
    timeout: float = 2.0


class DeclaredBroker(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True
):
    """A broker as its owner describes it."""

    cluster: str
    name: str
    id: int = 0
    address: str
    ha_address: str = ""
    topics: list[DeclaredTopic]
    health: Health = Health()

    @property
    def probe(self) -> Health:
        """What to look at."""
        if self.health.tcp or self.health.http:
            return self.health
        return msgspec.structs.replace(self.health, tcp=self.address)


class Declarations(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    brokers: list[DeclaredBroker]


def parse(
    text: bytes, where: str, environment: Mapping[str, str] = MappingProxyType({})
) -> list[DeclaredBroker]:
    """The brokers of a file."""
    try:
        filled = _filled(text.decode(), environment)
        brokers = msgspec.yaml.decode(filled, type=Declarations).brokers
        for broker in brokers:
            _check(broker)
    except (msgspec.DecodeError, AddressError, ValueError) as e:
        raise DeclarationError(f"{where}: {e}") from e
    return brokers


def _filled(text: str, environment: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        found = environment.get(match[1])
        if not found:
            raise ValueError(f"{match[0]} is not set in the environment")
        # A port follows an address, and IPv6 needs brackets for that.
        return f"[{found}]" if _is_ipv6(found) else found

    return _VARIABLE.sub(value, text)


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _check(broker: DeclaredBroker) -> None:
    split(broker.address)
    if broker.health.tcp:
        split(broker.health.tcp)
    if broker.id < 0:
        raise ValueError(f"{broker.name}: id {broker.id} is negative")
    for topic in broker.topics:
        if not topic.name or any(c.isspace() for c in topic.name):
            raise ValueError(f"{broker.name}: {topic.name!r} is no topic name")
        if topic.name == broker.name:
            raise ValueError(f"{broker.name}: its topic of the same name is not declared")
        if not 0 <= topic.perm <= 7 or min(topic.read_queues, topic.write_queues) < 0:
            raise ValueError(f"{broker.name}: {topic.name} has a perm or queues out of range")


def registration(broker: DeclaredBroker) -> Command:
    """What the broker would say of itself.

    A stock broker lists a topic of its own name, too; without it, name servers would refuse a
    broker with one topic. The version is made of the topics: the same file says the same.
    """
    fields = {
        "clusterName": broker.cluster,
        "brokerName": broker.name,
        "brokerId": str(broker.id),
        "brokerAddr": broker.address,
        "haServerAddr": broker.ha_address,
        "enableActingMaster": "false",
    }
    topics = {broker.name: TopicConfig(broker.name, 1, 1, PERM_INHERIT)} | {
        t.name: TopicConfig(t.name, t.read_queues, t.write_queues, t.perm) for t in broker.topics
    }
    digest = hashlib.blake2b(msgspec.json.encode(broker.topics), digest_size=4).digest()
    version = DataVersion(int.from_bytes(digest, "big"))
    head = Command(code=RequestCode.REGISTER_BROKER, opaque=0, fields=fields)
    return pack(head, Table(version, topics, {}, []))
