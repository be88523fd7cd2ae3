"""Where each request goes, and how many answers become one. Pure; the table is at the end."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

import msgspec

from signpost_namesrv.dispatch.replies import answer
from signpost_namesrv.wire.codes import RequestCode as Code
from signpost_namesrv.wire.codes import ResponseCode
from signpost_namesrv.wire.command import Command


class Outcome(NamedTuple):
    """What came of a request at one name server: an answer, or the reason why there is none."""

    address: str
    answer: Command | None = None
    error: str = ""

    @property
    def accepted(self) -> bool:
        """Whether the server did what it was asked."""
        return self.answer is not None and self.answer.code == ResponseCode.SUCCESS

    @property
    def complaint(self) -> str:
        """Which server did not, and why."""
        if self.answer is None:
            return f"{self.address}: {self.error}"
        return f"{self.address}: code {self.answer.code} {self.answer.remark or ''}".rstrip()


Merge = Callable[[Command, Sequence[Outcome]], Command]


def any_accepted(request: Command, outcomes: Sequence[Outcome]) -> Command:
    """Success with the first good answer, and a remark that names the servers without one."""
    for outcome in outcomes:
        if outcome.answer is not None and outcome.accepted:
            return _addressed(request, outcome.answer, _complaints(outcomes))
    return _nobody(request, outcomes)


def registered(request: Command, outcomes: Sequence[Outcome]) -> Command:
    """As above; a slave is told of its master by the first server that knows one."""
    good = [o for o in outcomes if o.accepted]
    knowing = [o for o in good if o.answer is not None and o.answer.field("masterAddr")]
    merged = any_accepted(request, [*knowing, *(o for o in outcomes if o not in knowing)])
    if good and not merged.body:
        bodies = (o.answer.body for o in good if o.answer is not None and o.answer.body)
        merged = msgspec.structs.replace(merged, body=next(bodies, b""))
    return merged


def changed_anywhere(request: Command, outcomes: Sequence[Outcome]) -> Command:
    """Changed when any server that answered needs the full registration."""
    merged = any_accepted(request, outcomes)
    if merged.code != ResponseCode.SUCCESS:
        return merged
    answers = [o.answer for o in outcomes if o.answer is not None and o.accepted]
    changed = next((a for a in answers if a.field("changed") != "false"), None)
    if changed is None:
        return merged
    return msgspec.structs.replace(
        merged, fields={**(changed.fields or {}), "changed": "true"}, body=changed.body
    )


def _nobody(request: Command, outcomes: Sequence[Outcome]) -> Command:
    """Refused by all: with the code of the first that said something."""
    remark = _complaints(outcomes) or "no name server is known"
    for outcome in outcomes:
        if outcome.answer is not None:
            return _addressed(request, outcome.answer, remark)
    return answer(request, ResponseCode.SYSTEM_ERROR, remark)


def _addressed(request: Command, reply: Command, remark: str) -> Command:
    return msgspec.structs.replace(
        reply, opaque=request.opaque, remark=remark or reply.remark, binary=request.binary
    )


def _complaints(outcomes: Sequence[Outcome]) -> str:
    complaints = [o.complaint for o in outcomes if not o.accepted]
    return "not accepted by " + ", ".join(complaints) if complaints else ""


class Spread(Enum):
    """Who is asked."""

    ALL = "every name server at once"
    ONE = "a healthy name server, one more when it fails"


class Rule(NamedTuple):
    """What is done with a request code."""

    spread: Spread
    merge: Merge


_READ = Rule(Spread.ONE, any_accepted)
_WRITE = Rule(Spread.ALL, any_accepted)

RULES: dict[int, Rule] = {
    # What brokers say of themselves.
    Code.REGISTER_BROKER: Rule(Spread.ALL, registered),
    Code.UNREGISTER_BROKER: _WRITE,
    Code.BROKER_HEARTBEAT: _WRITE,
    Code.QUERY_DATA_VERSION: Rule(Spread.ALL, changed_anywhere),
    Code.REGISTER_TOPIC_IN_NAMESRV: _WRITE,
    # Other writes: a tool that is pointed at the sidecar must not divide the name servers.
    Code.PUT_KV_CONFIG: _WRITE,
    Code.DELETE_KV_CONFIG: _WRITE,
    Code.WIPE_WRITE_PERM_OF_BROKER: _WRITE,
    Code.ADD_WRITE_PERM_OF_BROKER: _WRITE,
    Code.DELETE_TOPIC_IN_NAMESRV: _WRITE,
    Code.UPDATE_NAMESRV_CONFIG: _WRITE,
}


def rule_for(code: int) -> Rule:
    """The rule of a request; what is not in the table is a read."""
    return RULES.get(code, _READ)
