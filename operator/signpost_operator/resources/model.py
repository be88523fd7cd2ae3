"""What the custom resources' models are made of. Knows neither a resource nor the CRD's format."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

INT_OR_STRING = "x-kubernetes-int-or-string"
FREE_FORM = "x-kubernetes-preserve-unknown-fields"


@dataclass(frozen=True, slots=True)
class Rule:
    """Something that must hold between fields, in the words of the API server and in ours."""

    cel: str
    message: str
    holds: Callable[[Any], bool] | None = None
    """None: compares with what was there before, which only the API server knows."""
    field: str = ""
    """The field to blame, as it is written in YAML."""


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """More words for a field's part of the CRD; stands in the field's `Annotated`."""

    words: dict[str, Any]


class Model(BaseModel):
    """A part of a custom resource: camelCase in YAML, frozen, and nothing that is not declared."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        validate_default=True,
    )

    rules: ClassVar[tuple[Rule, ...]] = ()

    @model_validator(mode="after")
    def _rules(self) -> Self:
        for rule in self.rules:
            if rule.holds is not None and not rule.holds(self):
                raise ValueError(rule.message)
        return self

    def to_dict(self) -> dict[str, Any]:
        """As it is written in YAML, without what is unset."""
        return self.model_dump(by_alias=True, exclude_none=True, mode="json")


def _quantity(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
_OBJECT_NAME = r"^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$"
_QUANTITY = r"^([+]?([0-9]+(\.[0-9]*)?|\.[0-9]+))([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"

FORMS = {
    _QUANTITY: "an amount such as 500m or 2Gi",
    _NAME: "a name of small letters, digits and dashes",
    _OBJECT_NAME: "a name of small letters, digits, dashes and dots",
}
"""What a good value looks like, where its pattern would only puzzle."""

Quantity = Annotated[
    str,
    BeforeValidator(_quantity),
    Field(pattern=_QUANTITY, max_length=32),
    Schema({INT_OR_STRING: True, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
]
"""An amount such as 500m or 2Gi."""

CountOrShare = Annotated[
    int | str,
    Field(union_mode="left_to_right"),
    Schema({INT_OR_STRING: True, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
]
"""A number such as 1, or a share such as 25%."""

FreeForm = Annotated[dict[str, Any], Schema({"type": "object", FREE_FORM: True})]
"""Kubernetes' own type, passed on as it is."""

Name = Annotated[str, Field(pattern=_NAME, max_length=63)]
ObjectName = Annotated[str, Field(pattern=_OBJECT_NAME, min_length=1, max_length=253)]
Port = Annotated[int, Field(ge=1, le=65535)]
Text = Annotated[str, Field(min_length=1, max_length=1024)]
Labels = dict[str, str]
