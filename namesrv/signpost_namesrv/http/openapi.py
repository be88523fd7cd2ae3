"""`/openapi.json`, made from the endpoints and their models."""

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

import msgspec
from aiohttp import web
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from .auth import Access
from .endpoint import JSON, Answer, Endpoint
from .models import Nothing
from .problems import Problem

_REF = "#/components/schemas/{model}"
_PROBLEM = "application/problem+json"

_COMMON: dict[int, str] = {400: "A parameter is wrong or not known; the document says which."}
_WITH_BODY: dict[int, str] = {
    408: "The body did not come in time.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "The body is JSON, but not the right one; the document says where.",
}
_WITH_TOKEN: dict[int, str] = {
    401: "A token is needed.",
    403: "No token is configured, so nobody can have one.",
}

Schemas = Mapping[tuple[type[Any], JsonSchemaMode], Any]
AnyEndpoint = Endpoint[Any, Any]


def openapi(endpoints: Iterable[AnyEndpoint]) -> bytes:
    """The document."""
    listed = list(endpoints)
    schemas, definitions = models_json_schema(list(_models(listed)), ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in listed:
        operation = _operation(endpoint, schemas)
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Signpost name server",
            "version": version("signpost-namesrv"),
            "description": "The routes of a RocketMQ name server, and its change log.",
        },
        "paths": paths,
        "components": {
            "schemas": definitions.get("$defs", {}),
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A line of the file that httpTokenFile names.",
                }
            },
        },
    }
    return msgspec.json.encode(document)


def _models(endpoints: list[AnyEndpoint]) -> Iterable[tuple[type[BaseModel], JsonSchemaMode]]:
    found: dict[tuple[type[BaseModel], JsonSchemaMode], None] = {(Problem, "serialization"): None}
    for endpoint in endpoints:
        if endpoint.body is not Nothing:
            found[endpoint.body, "validation"] = None
        for answer in endpoint.answers.values():
            if answer.model is not None:
                found[answer.model, "serialization"] = None
    return found


def _operation(endpoint: AnyEndpoint, schemas: Schemas) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": _operation_id(endpoint),
        "summary": endpoint.summary,
        "parameters": [*_parameters(endpoint), *_headers(endpoint)],
        "responses": {
            **{str(s): _answer(answer, schemas) for s, answer in endpoint.answers.items()},
            **{
                str(status): _problem(text, schemas)
                for status, text in _problems(endpoint).items()
                if status not in endpoint.answers
            },
        },
    }
    if endpoint.body is not Nothing:
        content = {JSON: {"schema": schemas[endpoint.body, "validation"]}}
        operation["requestBody"] = {"required": True, "content": content}
    if endpoint.access is Access.WRITE:
        operation["security"] = [{"token": []}]
    elif endpoint.access is Access.READ:
        operation["security"] = [{}, {"token": []}]
    return operation


def _operation_id(endpoint: AnyEndpoint) -> str:
    words = endpoint.path.replace("{", "").replace("}", "").replace("-", "/").split("/")
    return "_".join([endpoint.method.lower(), *filter(None, words)]).replace(".", "_")


def _problems(endpoint: AnyEndpoint) -> dict[int, str]:
    found = dict(_COMMON)
    if endpoint.access is not Access.OPEN:
        found |= _WITH_TOKEN
    if endpoint.body is not Nothing:
        found |= _WITH_BODY
    return found | dict(endpoint.problems)


def _parameters(endpoint: AnyEndpoint) -> Iterable[dict[str, Any]]:
    schema = endpoint.params.model_json_schema(ref_template=_REF)
    required = schema.get("required", [])
    for name, kind in schema.get("properties", {}).items():
        in_path = name in endpoint.in_path
        field = {key: value for key, value in kind.items() if key not in ("title", "description")}
        yield {
            "name": name,
            "in": "path" if in_path else "query",
            "required": in_path or name in required,
            "description": kind.get("description", ""),
            "schema": field,
        }


def _headers(endpoint: AnyEndpoint) -> Iterable[dict[str, Any]]:
    for header in endpoint.headers:
        yield {
            "name": header.name,
            "in": "header",
            "required": False,
            "description": header.text,
            "schema": {"type": "string"},
        }


def _answer(answer: Answer, schemas: Schemas) -> dict[str, Any]:
    if answer.model is not None:
        schema = schemas[answer.model, "serialization"]
        return {"description": answer.text, "content": {answer.content_type: {"schema": schema}}}
    if answer.content_type == JSON:
        return {"description": answer.text}
    content = {answer.content_type: {"schema": {"type": "string"}}}
    return {"description": answer.text, "content": content}


def _problem(text: str, schemas: Schemas) -> dict[str, Any]:
    schema = schemas[Problem, "serialization"]
    return {"description": text, "content": {_PROBLEM: {"schema": schema}}}


def add_openapi(app: web.Application, document: bytes) -> None:
    """Serve the document; it tells no routes, so it is open to everybody."""

    async def serve(request: web.Request) -> web.Response:
        return web.Response(body=document, content_type=JSON, headers={"Cache-Control": "no-cache"})

    app.router.add_get("/openapi.json", serve)
