"""What is wrong with a spec that reached the operator, in words for the one who wrote it."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from .model import FORMS

_REMEDIES = {
    "missing": "add it",
    "extra_forbidden": "remove it",
    "int_type": "give a whole number",
    "int_parsing": "give a whole number",
    "int_from_float": "give a whole number",
    "bool_type": "give true or false",
    "bool_parsing": "give true or false",
    "string_type": "give a text (in quotes, if it looks like a number)",
    "dict_type": "give an object",
    "model_type": "give an object",
    "tuple_type": "give a list",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong."""

    field: str
    value: str
    """As it was written, shortened; empty when there is none."""
    what: str
    remedy: str = ""

    def __str__(self) -> str:
        value = f" ({self.value})" if self.value else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.field}{value}: {self.what}{remedy}"


class SpecError(Exception):
    """A spec cannot be carried out as it is. The message has a sentence for each problem."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(". ".join(str(problem) for problem in self.problems))


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """The problems in the words of this module."""
    return [_problem(details, model) for details in error.errors(include_url=False)]


def _problem(details: ErrorDetails, model: type[BaseModel]) -> Problem:
    kind, where = details["type"], details["loc"]
    field = _path(where)
    if kind == "value_error":
        # A rule between fields names what to do itself, and its value is the whole object.
        return Problem(field, "", details["msg"].removeprefix("Value error, "))
    value = "" if kind == "missing" else _short(details["input"])
    remedy = _REMEDIES.get(kind, "")
    what = details["msg"][:1].lower() + details["msg"][1:]
    if kind == "missing":
        what = "is missing"
    if kind == "string_pattern_mismatch":
        pattern = details.get("ctx", {}).get("pattern", "")
        what = f"is not {FORMS.get(pattern, f'of the form {pattern}')}"
    if kind == "extra_forbidden":
        what = "is not a field here"
        close = difflib.get_close_matches(str(where[-1]), _fields(model, where[:-1]), n=1)
        remedy = f"did you mean {close[0]}?" if close else remedy
    return Problem(field, value, what, remedy)


def _path(where: tuple[int | str, ...]) -> str:
    text = ""
    for part in where:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _fields(model: type[BaseModel], where: tuple[int | str, ...]) -> list[str]:
    """The names that are known at a place; none when it is not an object of ours."""
    for part in where:
        inner = [f.annotation for f in model.model_fields.values() if f.alias == part]
        found = inner[0] if inner else None
        if not (isinstance(found, type) and issubclass(found, BaseModel)):
            return []
        model = found
    return [field.alias or name for name, field in model.model_fields.items()]
