"""What a setting's declaration is made of: its key and kinds of value. No setting lives here."""

import ipaddress
import re
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

INT_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Key:
    """How a setting is written, and why it exists; stands in the field's `Annotated`."""

    why: str
    unit: str = ""
    name: str = ""
    """The key, where it is not the attribute's name in camelCase."""
    also: tuple[str, ...] = ()
    """Further spellings: the system properties of the stock server."""
    expects: str = ""
    """The form of a good value, where the type does not tell it."""
    live: bool = False
    """May change while the server runs."""
    effect: bool = True
    """False: known so that a stock file is read unchanged, and otherwise ignored."""


class Group(BaseModel):
    """A group of settings."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=True, hide_input_in_errors=True
    )


def _flag(value: Any) -> Any:
    # Java reads "1" and "yes" as false: neither is taken, so that nobody is surprised.
    if isinstance(value, str):
        word = value.strip().lower()
        if word not in ("true", "false"):
            raise ValueError("neither true nor false")
        return word == "true"
    return value


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        if not re.fullmatch(r"[+-]?[0-9]{1,19}", value.strip()):
            raise ValueError("not a whole number")
        return int(value)
    return value


def _names(value: Any) -> Any:
    if isinstance(value, str):
        return tuple(dict.fromkeys(part for part in re.split(r"[,;\s]+", value) if part))
    return value


def _networks(value: Any) -> Any:
    return tuple(ipaddress.ip_network(part) for part in _names(value))


def _path(value: Any) -> Any:
    if isinstance(value, str | Path):
        text = str(value).strip()
        if "\0" in text:
            raise ValueError("a path holds no NUL")
        try:
            return Path(text).expanduser() if text else None
        except RuntimeError:
            raise ValueError("no home directory is known") from None
    return value


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


Flag = Annotated[bool, BeforeValidator(_flag)]
Whole = Annotated[int, BeforeValidator(_whole)]
Count = Annotated[Whole, Field(ge=0, le=INT_MAX)]
Positive = Annotated[Whole, Field(ge=1, le=INT_MAX)]
Port = Annotated[Whole, Field(ge=0, le=65535)]
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
Networks = Annotated[tuple[IPv4Network | IPv6Network, ...], BeforeValidator(_networks)]
File = Annotated[Path, BeforeValidator(_path)]
MaybeFile = Annotated[Path | None, BeforeValidator(_path)]
Lower = BeforeValidator(_lower)
