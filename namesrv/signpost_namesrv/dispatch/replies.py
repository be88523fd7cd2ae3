"""Answers to commands, and reading their fields."""

import re
from collections.abc import Mapping

from signpost_namesrv.wire.codes import FLAG_RESPONSE, ResponseCode
from signpost_namesrv.wire.command import Command

_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")


class BadRequestError(Exception):
    """A request that cannot be carried out as it stands; the message goes to the peer."""


def ok(request: Command, fields: Mapping[str, str] | None = None, body: bytes = b"") -> Command:
    """Success."""
    return answer(request, ResponseCode.SUCCESS, fields=fields, body=body)


def answer(
    request: Command,
    code: ResponseCode,
    remark: str | None = None,
    *,
    fields: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Command:
    """An answer in the header encoding of its request."""
    return Command(
        code=code,
        opaque=request.opaque,
        flag=FLAG_RESPONSE,
        remark=remark,
        fields=fields,
        binary=request.binary,
        body=body,
    )


def required(request: Command, name: str) -> str:
    """A field that must be there."""
    value = request.field(name)
    if value is None:
        raise BadRequestError(f"field {name} is missing")
    return value


def required_int(request: Command, name: str) -> int:
    """A field that must be a whole number."""
    value = optional_int(request, name)
    if value is None:
        raise BadRequestError(f"field {name} is missing or no number: {request.field(name)!r}")
    return value


def optional_int(request: Command, name: str) -> int | None:
    """A field that counts only when it is a 64-bit whole number, as for Java peers."""
    text = request.field(name) or ""
    if not _WHOLE.fullmatch(text):
        return None
    value = int(text)
    return value if -(2**63) <= value < 2**63 else None


def flag(request: Command, name: str) -> bool:
    """A field that is on when it says true."""
    return (request.field(name) or "").lower() == "true"
