"""What changes when a setting is not at its default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.conformance.bodies import Registration, Topic
from tests.conformance.script import NEW, OLD, Member, Script, Step, ask, look
from tests.conformance.scripts.cast import A0, A1, B0, TWO

ACTING = {"enableActingMaster": "true"}


def order() -> Script:
    """Order topics: in routes with orderMessageEnable, to brokers unless switched off."""
    yield A0.joins("no order topics yet", Registration(TWO))
    yield ask("no order topics yet", 105, topic="T1")
    for topic, value in (("T1", "a:4;b:4"), ("T2", ""), ("T9", 'é"')):
        yield ask("order", 100, namespace="ORDER_TOPIC_CONFIG", key=topic, value=value)
    yield A0.joins("order", Registration(TWO))
    yield A1.joins("order", Registration(TWO))
    yield from look("order", "T1", "T2", "T9")
    yield ask("order, zone mode", 105, topic="T1", __ZONE_MODE="true", __ZONE_NAME="z")
    yield ask("order", 102, namespace="ORDER_TOPIC_CONFIG", key="T1")
    yield from look("no order any more", "T1")


def lists() -> Script:
    """The topic lists, which can be switched off."""
    yield A0.joins("lists", Registration(tuple(Topic(f"U{flag}", flag=flag) for flag in range(4))))
    yield from look("lists", "U1")
    for cluster in ("C", "X"):
        yield ask("lists", 224, cluster=cluster)


def deletion() -> Script:
    """Topics that a registration no longer lists, with deleteTopicWithBrokerRegistration."""
    three = (*TWO, Topic("T3"))
    yield A0.joins("three topics", Registration(three))
    yield B0.joins("three topics", Registration(three))
    yield A1.joins("a slave with fewer", Registration(TWO))
    yield from look("three", "T1", "T3")
    yield A0.joins("the same version with fewer", Registration(TWO))
    yield from look("the same version", "T3")
    yield A0.joins("two", Registration(TWO, counter=2))
    yield from look("two", "T1", "T3")
    yield A0.joins("one", Registration((Topic("T2"),), counter=3))
    yield from look("one", "T1", "T2", "T3")
    yield B0.joins("others", Registration((Topic("T8"), Topic("T9")), counter=2))
    yield from look("others", "T1", "T3", "T9")
    yield B0.joins("none", Registration((), counter=3))
    yield from look("none", "T9")


def acting(addresses: Sequence[str]) -> Script:
    """Acting masters, and 905 to the brokers of a group whose smallest id changed."""
    master, first, second = (Member("a", number, at) for number, at in enumerate(addresses))
    here, there, far = addresses
    yield first.joins("first slave", Registration(TWO), **ACTING)
    yield from look("first slave", "T1")
    yield second.joins("second slave", Registration(TWO), **ACTING)
    yield from look("second slave", "T1")
    yield master.joins("master", Registration(TWO), **ACTING).notifying(there, far)
    yield from look("master", "T1")
    yield first.joins("first again", Registration(TWO), **ACTING)
    yield second.leaves("the largest id")
    yield second.joins("the largest id", Registration(TWO), **ACTING)
    yield master.leaves("master").notifying(there, far)
    yield from look("no master", "T1")
    for how in (NEW, OLD):
        yield ask("no master", 901, b"", how, clusterName="C", brokerName="a")
    yield ask("no master, zone", 105, topic="T1", __ZONE_MODE="true", __ZONE_NAME="z")
    yield first.joins("unchanged", Registration(TWO), **ACTING)
    yield ask("write permission without a master", 327, brokerName="a")
    yield from look("write permission", "T1")
    more = Registration((*TWO, Topic("T9")), counter=4)
    yield first.joins("the acting master's topics count", more, **ACTING)
    yield from look("the acting master's topics count", "T1", "T9")
    yield second.joins("others' do not", Registration((*TWO, Topic("T8")), counter=4), **ACTING)
    yield from look("others' do not", "T8")
    yield master.joins("master back", Registration(TWO, counter=5), **ACTING).notifying(there, far)
    yield from look("master back", "T1", "T9")
    yield master.hangs_up("hang up").notifying(there, far)
    yield first.hangs_up("hang up").notifying(far)
    yield from look("last slave", "T1")
    yield second.hangs_up("hang up")
    yield from look("empty")
    yield from _plain_group(here, there)


def _plain_group(here: str, there: str) -> Script:
    master, slave = Member("b", 0, here), Member("b", 1, there)
    yield master.joins("without acting masters", Registration(TWO))
    yield slave.joins("without acting masters", Registration(TWO))
    yield master.leaves("without acting masters")
    yield from look("without acting masters", "T1")
    yield slave.joins("topics of a plain slave", Registration((*TWO, Topic("T8")), counter=4))
    yield from look("topics of a plain slave", "T8")
    promoted = Member("b", 0, there)
    yield promoted.joins("promoted", Registration(TWO, counter=5)).notifying(there)
    yield from look("promoted", "T1")


def expiry() -> Script:
    """A broker that falls silent for longer than its own timeout."""
    yield B0.joins("patient", Registration(TWO))
    yield A0.joins("hasty", Registration(TWO), heartbeatTimeoutMillis="300")
    yield replace(ask("silence", 219, namespace="none"), gone=(A0.address,))
    yield from look("expired", "T1")
    yield A0.joins("its connection is closed", Registration(TWO))
    yield Step("a new connection", None, A0.address)
    yield B0.hangs_up("patient")
