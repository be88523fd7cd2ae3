"""How many answers become one."""

from __future__ import annotations

import pytest

from signpost_namesrv.sidecar.rules import Outcome, Spread, rule_for
from signpost_namesrv.wire.codes import RequestCode
from signpost_namesrv.wire.command import Command

REQUEST = Command(code=103, opaque=77, binary=True)
DEAD = Outcome("n3:1", error="not connected")


def good(address: str, body: bytes = b"", **fields: str) -> Outcome:
    return Outcome(address, Command(code=0, opaque=1, flag=1, fields=fields, body=body))


def _queried(address: str, changed: str | None) -> Outcome:
    return good(address) if changed is None else good(address, changed=changed)


def bad(address: str, code: int = 1, remark: str = "no") -> Outcome:
    return Outcome(address, Command(code=code, opaque=1, flag=1, remark=remark))


def merged(code: int, *outcomes: Outcome) -> Command:
    return rule_for(code).merge(REQUEST, outcomes)


EVERY = [103, 104, 904, 217, 322, 105]


@pytest.mark.parametrize("code", EVERY)
@pytest.mark.parametrize(
    ("outcomes", "expected", "remark"),
    [
        ([good("n1:1"), good("n2:1")], 0, None),
        ([good("n1:1"), DEAD], 0, "not accepted by n3:1: not connected"),
        ([bad("n1:1"), good("n2:1")], 0, "not accepted by n1:1: code 1 no"),
        ([DEAD, bad("n2:1", 17)], 17, "not accepted by n3:1: not connected, n2:1: code 17 no"),
        ([DEAD], 1, "not accepted by n3:1: not connected"),
        ([], 1, "no name server is known"),
    ],
    ids=["all", "one dead", "one refuses", "none", "all dead", "nobody"],
)
def test_success_when_one_accepted(
    code: int, outcomes: list[Outcome], expected: int, remark: str | None
) -> None:
    reply = merged(code, *outcomes)
    assert (reply.code, reply.remark) == (expected, remark)
    assert (reply.opaque, reply.binary, reply.is_response) == (77, True, True)


def test_a_slave_hears_of_its_master_from_whoever_knows_it() -> None:
    reply = merged(
        103,
        good("n1:1", b"order"),
        good("n2:1", masterAddr="10.0.0.1:1", haServerAddr="10.0.0.1:2"),
    )
    assert reply.field("masterAddr") == "10.0.0.1:1"
    assert reply.field("haServerAddr") == "10.0.0.1:2"
    assert reply.body == b"order"


@pytest.mark.parametrize(
    ("answers", "changed"),
    [
        (["false", "false"], "false"),
        (["false", "true"], "true"),
        (["true", "false"], "true"),
        (["false", None], "true"),
    ],
)
def test_changed_when_any_server_needs_the_table(answers: list[str | None], changed: str) -> None:
    outcomes = [_queried(f"n{n}:1", a) for n, a in enumerate(answers)]
    assert merged(322, *outcomes).field("changed") == changed


def test_a_refused_version_query_is_not_a_success() -> None:
    assert merged(322, bad("n1:1"), DEAD).code == 1


def test_every_write_goes_to_all_and_every_read_to_one() -> None:
    everywhere = {code for code in RequestCode if rule_for(code).spread is Spread.ALL}
    assert everywhere == {100, 102, 103, 104, 205, 216, 217, 318, 322, 327, 904}
    assert rule_for(9999).spread is Spread.ONE
