"""Errors as RFC 9457 problem documents: which parameter, its value, and what to do."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Literal

from aiohttp import web
from pydantic import Field, ValidationError

from .models import Model

_LONGEST = 120

Place = Literal["path", "query", "header", "body"]


class Fault(Model):
    """One mistake in a request."""

    place: Place = Field(alias="in", description="Where it stands.")
    name: str = Field(description="The parameter, the header, or the path into the body.")
    value: str | None = Field(description="What was given, cut when long; null: nothing.")
    remedy: str = Field(description="What it should be, or what to do.")


class Problem(Model):
    """Why a request failed (RFC 9457)."""

    type: str = Field(description="A URN for this kind of problem.")
    title: str
    status: int
    detail: str
    instance: str = Field(description="The path that was asked for.")
    errors: list[Fault] = Field(default=[], description="Every mistake found in the request.")


class ProblemError(Exception):
    """Ends a request with a problem document."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        faults: Iterable[Fault] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.detail = detail
        self.faults = list(faults)
        self.headers = headers

    def response(self, path: str) -> web.Response:
        """The document."""
        problem = Problem(
            type=f"urn:signpost:problem:{self.kind}",
            title=self.kind.replace("-", " ").capitalize(),
            status=self.status,
            detail=self.detail,
            instance=path,
            errors=self.faults,
        )
        return web.Response(
            status=self.status,
            body=problem.model_dump_json(by_alias=True).encode(),
            content_type="application/problem+json",
            headers=self.headers,
        )


def fault(place: Place, name: str, value: object, remedy: str) -> Fault:
    """A mistake, its value fit to be shown."""
    shown = None if value is None else str(value)
    if shown is not None and len(shown) > _LONGEST:
        shown = shown[:_LONGEST] + "..."
    return Fault.model_validate({"place": place, "name": name, "value": shown, "remedy": remedy})


def invalid(status: int, faults: list[Fault]) -> ProblemError:
    """The problem of a request with mistakes in it."""
    first = faults[0]
    given = "missing" if first.value is None else f"{first.value!r}"
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    detail = f"{first.place} {first.name}: {given}: {first.remedy}{more}"
    return ProblemError(status, "invalid-request", detail, faults)


def not_found(what: str, name: str, value: str, remedy: str) -> ProblemError:
    """The problem of a name in the path that stands for nothing."""
    mistake = fault("path", name, value, remedy)
    return ProblemError(404, "not-found", f"no {what} {value!r} is known; {remedy}", [mistake])


def busy(what: str, limit: int) -> ProblemError:
    """The problem of one too many."""
    detail = f"there are {limit} {what} already, and no more are allowed; try again later"
    return ProblemError(503, "too-many", detail, headers={"Retry-After": "5"})


def from_validation(error: ValidationError, place: Place) -> list[Fault]:
    """The mistakes that a model found."""
    return [_fault_of(dict(problem), place) for problem in error.errors(include_url=False)][:20]


def _fault_of(problem: dict[str, Any], place: Place) -> Fault:
    name = ".".join(str(part) for part in problem["loc"]) or "document"
    if problem["type"] == "missing":
        return fault(place, name, None, "it is required")
    if problem["type"] == "extra_forbidden":
        return fault(place, name, problem["input"], "not known here: leave it out")
    return fault(place, name, problem["input"], str(problem["msg"]))


def from_http(error: web.HTTPException) -> ProblemError:
    """What aiohttp itself refuses, as a problem."""
    status = HTTPStatus(error.status)
    details = {
        404: "there is nothing here; /openapi.json lists what there is",
        405: "this method is not for this path; the Allow header lists those that are",
        413: "the body is too large; send less in one request",
    }
    keep = {name: error.headers[name] for name in ("Allow", "Location") if name in error.headers}
    kind = status.phrase.lower().replace(" ", "-")
    return ProblemError(error.status, kind, details.get(error.status, error.reason), headers=keep)
