"""The known differences between the Java name server and ours, each with its reason.

An entry that explains nothing any more fails the differential test.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.conformance.differential import Difference

_EXCEPTION = re.compile(r"(java|com|org)(\.\w+)+Exception")


@dataclass(frozen=True, slots=True)
class Known:
    """Why certain differences are as they should be."""

    reason: str
    explains: Callable[[Difference], bool]


def _labelled(start: str, *fields: str) -> Callable[[Difference], bool]:
    """Differences at the steps of one label, in these fields if any are named."""
    return lambda it: it.label.startswith(start) and (not fields or it.field in fields)


KNOWN = [
    Known(
        "An answer's header has its request's serialization; Java's is JSON whatever was asked.",
        lambda it: it.field == "serialization" and (it.java, it.ours) == ("JSON", "ROCKETMQ"),
    ),
    Known(
        "Java's remark is the exception that broke the request, class and line number included.",
        lambda it: it.field == "remark" and bool(_EXCEPTION.match(str(it.java))),
    ),
    Known(
        "Java registers a broker without a name, address or cluster half-way, as null, and says 0.",
        _labelled("103 without", "code", "remark", "fields", "body table", "body unquoted"),
    ),
    Known(
        "Java keeps an empty group of a first registration that it refused for its single topic.",
        _labelled(
            "a first registration with one topic",
            "body brokerAddrTable",
            "body clusterAddrTable",
            "body topicList",
        ),
    ),
    Known(
        "A header is standard JSON, as every client writes it; Java's reader takes unquoted keys.",
        _labelled("header: unquoted keys"),
    ),
    Known(
        "Bodies are JSON (integer keys may be unquoted) with numbers as numbers, as brokers write "
        "them; Java's reader takes much that is not.",
        _labelled("lenient", "code", "remark", "fields"),
    ),
    Known(
        "A 5.3.3 broker with compressedRegister packs its body without saying so; Java then fails.",
        _labelled("packed, not said so", "code", "remark", "fields"),
    ),
    Known(
        "Settings are changed over the wire only if configUpdateEnabled allows it.",
        lambda it: (
            "updates off" in it.label and it.field in ("code", "remark", "body orderMessageEnable")
        ),
    ),
    Known(
        "And then only those of configUpdateKeys: an unknown key is refused, not ignored, by name.",
        lambda it: it.code == 318 and ("configUpdateKeys" in str(it.ours) or it.ours == 16),
    ),
    Known(
        "217 for a known topic is all or nothing; Java stops at the first broker it does not know.",
        _labelled("half known", "body queueDatas"),
    ),
]
