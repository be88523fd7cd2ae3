"""The catalogue of keys, read off a settings model: what can be written, where it goes."""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from .kinds import Group, Key

PREFIX = "SIGNPOST_"
MASK = "****"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its key, its place in the model, and what people want to know of it."""

    key: str
    group: str
    attribute: str
    model: type[Group]
    about: Key
    expects: str
    secret: bool

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.key.replace(".", "_"))
        return PREFIX + words.upper()

    @property
    def default(self) -> str:
        """What it is when nobody sets it, as a properties file writes it."""
        return show(self.model.model_fields[self.attribute].default)

    def parse(self, text: str) -> object:
        """The value that a text stands for; ValueError when it stands for none."""
        try:
            parsed = self.model.model_validate({self.attribute: text})
        except ValidationError as error:
            if any(problem["loc"][:1] == (self.attribute,) for problem in error.errors()):
                raise ValueError(self.expects) from None
            return text  # the group's defaults are at fault, and reported as such
        return getattr(parsed, self.attribute)


def show(value: object, separator: str = ",") -> str:
    """A value as a properties file writes it, fit for one line; secrets are masked."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case SecretStr():
            return MASK if value.get_secret_value() else ""
        case tuple():
            return separator.join(show(item) for item in value)
    return printable(str(value))


def printable(text: str) -> str:
    """The text with everything escaped that could leave its line or break a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def catalogue(model: type[BaseModel]) -> dict[str, Setting]:
    """All settings of a model by key."""
    settings: dict[str, Setting] = {}
    for group, field in model.model_fields.items():
        kind = field.annotation
        if not (isinstance(kind, type) and issubclass(kind, Group)):
            raise TypeError(f"{group} is not a group of settings")
        for attribute, inner in kind.model_fields.items():
            setting = _setting(group, kind, attribute, inner)
            settings[setting.key] = setting
    return settings


def spellings(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """The settings by every key that is read: their own and the stock system properties."""
    other = {name: setting for setting in settings.values() for name in setting.about.also}
    return {**settings, **other}


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that was probably meant, or nothing."""
    plain = {_plain(key): key for key in known}
    close = difflib.get_close_matches(_plain(name), plain, n=1, cutoff=0.6)
    return plain[close[0]] if close else ""


def _plain(name: str) -> str:
    return re.sub(r"[-_.\s]", "", name.removeprefix(PREFIX)).lower()


def _setting(group: str, model: type[Group], attribute: str, field: FieldInfo) -> Setting:
    about = next(item for item in field.metadata if isinstance(item, Key))
    return Setting(
        key=about.name or re.sub(r"_([a-z0-9])", lambda m: m[1].upper(), attribute),
        group=group,
        attribute=attribute,
        model=model,
        about=about,
        expects=about.expects or _expectation(field),
        secret=field.annotation is SecretStr,
    )


def _expectation(field: FieldInfo) -> str:
    kind: Any = field.annotation
    if kind is bool:
        return "true or false"
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(get_args(kind))
    if kind is int:
        low = next((item.ge for item in field.metadata if hasattr(item, "ge")), None)
        high = next((item.le for item in field.metadata if hasattr(item, "le")), None)
        return "a whole number" + (f" from {low} to {high}" if low is not None else "")
    return "text"
