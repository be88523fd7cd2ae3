"""The brokers and topics that the scripts share."""

from __future__ import annotations

from tests.conformance.bodies import Topic
from tests.conformance.script import Member

TWO = (Topic("T1"), Topic("T2"))
A0 = Member("a", 0, "10.0.0.1:10911")
A1 = Member("a", 1, "10.0.0.2:10911")
B0 = Member("b", 0, "10.0.1.1:10911")
