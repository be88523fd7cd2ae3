"""A random walk of brokers that claim each other's ids, newer and older ones."""

from __future__ import annotations

import random

from tests.conformance.bodies import Registration, Topic
from tests.conformance.script import Member, Script, ask

ADDRESSES = [f"10.4.0.{number}:10911" for number in range(4)]
TOPICS = [Topic(f"r{number}") for number in range(4)]
# Removals are done in the order in which they were asked for: when this one is gone, so are
# those before it, whether or not they can be seen.
LAST = Member("last", 0, "10.4.1.1:10911")


def rivals(seed: int, count: int) -> Script:
    """This many registrations and removals in one group, each followed by a look."""
    chance = random.Random(seed)
    for _ in range(count):
        member = Member("rivals", chance.randrange(3), chance.choice(ADDRESSES))
        if chance.random() < 0.25:
            yield member.leaves("rivals")
            yield LAST.joins("rivals", Registration(TOPICS[:2]))
            yield LAST.leaves("rivals")
        else:
            topics = chance.sample(TOPICS, chance.randrange(2, 5))
            body = Registration(topics, chance.randrange(3), state=chance.randrange(4))
            yield member.joins(f"rivals, state {body.state}", body)
        yield ask("rivals", 106)
        yield ask("rivals", 105, topic=chance.choice(TOPICS).name)
        yield ask("rivals", 322, b"{}", **member.fields)
