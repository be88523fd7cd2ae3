"""Structural OpenAPI v3 schemas from the models: no $ref, no null, nothing left out."""

import types
from collections.abc import Iterable
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from .resources.model import Model, Rule, Schema

_PLAIN: dict[Any, str] = {str: "string", int: "integer", bool: "boolean", float: "number"}
_LIMITS = {"ge": "minimum", "le": "maximum", "pattern": "pattern"}
_SIZES = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}


def object_schema(model: type[Model]) -> dict[str, Any]:
    """Of a model, its rules included."""
    fields = model.model_fields.values()
    schema: dict[str, Any] = {
        "description": model.__doc__,
        "type": "object",
        "properties": {field.alias or "": _field(field) for field in fields},
    }
    if required := [field.alias for field in fields if field.is_required()]:
        schema["required"] = required
    if model.rules:
        schema["x-kubernetes-validations"] = [rule_schema(rule) for rule in model.rules]
    return schema


def rule_schema(rule: Rule) -> dict[str, Any]:
    """A rule as the API server reads it."""
    schema = {"rule": rule.cel, "message": rule.message}
    if rule.field:
        schema["fieldPath"] = f".{rule.field}"
    return schema


def _field(field: FieldInfo) -> dict[str, Any]:
    schema = _of(field.annotation, field.metadata)
    if field.description:
        schema = {"description": field.description} | {
            word: value for word, value in schema.items() if word != "description"
        }
    if field.default is not None and field.default is not PydanticUndefined:
        schema["default"] = _plain(field.default)
    return schema


def _of(kind: Any, metadata: Iterable[Any] = ()) -> dict[str, Any]:
    """Of a type; `metadata` is what stands beside it in `Annotated`."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _of(inner[0], (*inner[1:], *metadata))
    if origin in (Union, types.UnionType):
        kinds = [one for one in inner if one is not type(None)]
        if len(kinds) == 1:
            return _of(kinds[0], metadata)
        schema: dict[str, Any] = {}  # its words are in the metadata
    elif origin is Literal:
        schema = {"type": "string", "enum": list(inner)}
    elif origin is tuple:
        schema = {"type": "array", "items": _of(inner[0])}
    elif origin is dict:
        schema = {"type": "object"}
        if inner[1] is str or get_origin(inner[1]) is Annotated:
            schema["additionalProperties"] = _of(inner[1])
    elif isinstance(kind, type) and issubclass(kind, Model):
        schema = object_schema(kind)
    else:
        schema = {"type": _PLAIN[kind]}
    return _with(schema, metadata)


def _with(schema: dict[str, Any], metadata: Iterable[Any]) -> dict[str, Any]:
    """The schema with limits, further words and rules."""
    rules = []
    for item in metadata:
        if isinstance(item, Rule):
            rules.append(rule_schema(item))
        elif isinstance(item, Schema):
            if "anyOf" in item.words:
                schema.pop("type", None)
            schema |= item.words
        elif isinstance(item, FieldInfo):
            schema = _with(schema, item.metadata)
        else:
            schema |= _limits(schema, item)
    return schema | ({"x-kubernetes-validations": rules} if rules else {})


def _limits(schema: dict[str, Any], item: Any) -> dict[str, Any]:
    found = {
        word: value
        for name, word in _LIMITS.items()
        if (value := getattr(item, name, None)) is not None
    }
    shortest, longest = _SIZES.get(schema.get("type", "string"), ("", ""))
    for name, word in (("min_length", shortest), ("max_length", longest)):
        if word and (value := getattr(item, name, None)) is not None:
            found[word] = value
    return found


def _plain(value: Any) -> Any:
    match value:
        case Model():
            # In full: the API server tries the rules on a default before it fills the fields in.
            return {
                field.alias: _plain(getattr(value, name))
                for name, field in type(value).model_fields.items()
                if getattr(value, name) is not None
            }
        case tuple():
            return [_plain(item) for item in value]
    return value
