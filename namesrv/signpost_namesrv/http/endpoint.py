"""One declaration per call: path, parameters, body, answers. Handlers and OpenAPI come from it."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from aiohttp import web
from pydantic import BaseModel, ValidationError

from .auth import TOKENS, Access
from .context import CONTEXT, Context
from .models import Model, Nothing
from .problems import Fault, ProblemError, fault, from_validation, invalid

P = TypeVar("P", bound=Model)
B = TypeVar("B", bound=Model)

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Answer:
    """What one status comes with; no model, no body."""

    text: str
    model: type[BaseModel] | None = None
    content_type: str = JSON


@dataclass(frozen=True, slots=True)
class Header:
    """A request header that a call looks at."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Call(Generic[P, B]):
    """One request, read and checked."""

    request: web.Request
    context: Context
    params: P
    body: B


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint(Generic[P, B]):
    """One call. Parameters named in the path come from there, the others from the query."""

    method: str
    path: str
    summary: str
    handle: Callable[[Call[P, B]], Awaitable[web.StreamResponse]]
    params: type[P]
    body: type[B]
    answers: Mapping[int, Answer]
    problems: Mapping[int, str] = field(default_factory=dict)
    access: Access = Access.READ
    headers: tuple[Header, ...] = ()
    lenient: bool = False
    """Ignores query parameters that it does not know: stock programs send what they like."""
    streams: bool = False
    """Writes its answer bit by bit, so HEAD is not for it."""

    @property
    def in_path(self) -> frozenset[str]:
        """The parameters that stand in the path."""
        return frozenset(re.findall(r"{(\w+)}", self.path))

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        """Read the request and hand it over."""
        context = request.app[CONTEXT]
        request.app[TOKENS].admit(
            self.access, request.headers.get("Authorization"), context.options.reads_need_token
        )
        params = _read_params(request, self)
        body = await _read_body(request, self.body, context.options.request_timeout)
        return await self.handle(Call(request, context, params, body))


def reply(
    model: BaseModel, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    """A document as the answer."""
    body = model.model_dump_json(by_alias=True).encode()
    return web.Response(status=status, body=body, content_type=JSON, headers=headers)


def _read_params(request: web.Request, endpoint: Endpoint[P, B]) -> P:
    names = {field.alias or name for name, field in endpoint.params.model_fields.items()}
    faults: list[Fault] = []
    given: dict[str, str] = dict(request.match_info)
    for name in request.query:
        value = request.query[name]
        if name not in names - endpoint.in_path:
            if endpoint.lenient:
                continue
            known = ", ".join(sorted(names - endpoint.in_path)) or "none at all"
            faults.append(fault("query", name, value, f"not known here; known: {known}"))
        elif len(request.query.getall(name)) > 1:
            faults.append(fault("query", name, value, "give it once"))
        else:
            given[name] = value
    if faults:
        raise invalid(400, faults)
    try:
        return endpoint.params.model_validate(given)
    except ValidationError as e:
        found = from_validation(e, "query")
        placed = [
            f.model_copy(update={"place": "path"}) if f.name in endpoint.in_path else f
            for f in found
        ]
        raise invalid(400, placed) from e


async def _read_body(request: web.Request, model: type[B], seconds: float) -> B:
    if model is Nothing:
        if request.body_exists:
            raise invalid(400, [fault("body", "document", None, "send no body here")])
        return model()
    if request.content_type != JSON:
        given = request.headers.get("Content-Type")
        raise invalid(415, [fault("header", "Content-Type", given, f"send {JSON}")])
    try:
        async with asyncio.timeout(seconds):
            raw = await request.read()
    except TimeoutError as e:
        raise ProblemError(408, "too-slow", f"the body did not come within {seconds:g} s") from e
    try:
        return model.model_validate_json(raw)
    except ValidationError as e:
        syntax = any(problem["type"] == "json_invalid" for problem in e.errors())
        raise invalid(400 if syntax else 422, from_validation(e, "body")) from e
