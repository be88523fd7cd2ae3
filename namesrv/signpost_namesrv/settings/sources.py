"""The places where settings are written: files and the environment. Reads no values."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from .catalogue import PREFIX, Setting
from .given import Given, unknown
from .problems import Problem, SettingsError
from .properties import Entry, Malformed, decode, parse

# Kubernetes describes every Service to every pod: one named signpost-a leaves SIGNPOST_A_PORT.
_SERVICE_LINK = re.compile(
    r"\w+_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)"
)
_SERVICE_URL = re.compile(r"(tcp|udp|sctp)://")
_NOT_SETTINGS = frozenset({"SIGNPOST_CACHE"})


def from_file(path: Path, named_by: str, origin: str) -> Iterator[Given | Problem]:
    """What a properties file gives; `named_by` is the option that named it, from `origin`."""
    try:
        text = decode(path.read_bytes())
    except OSError as error:
        what = f"cannot be read: {error.strerror or error}"
        yield Problem(named_by, str(path), origin, what, "name a file that this user can read")
        return
    for entry in parse(text):
        where = f"file {path}:{entry.line}"
        if isinstance(entry, Malformed):
            yield _malformed(entry, where)
        else:
            yield Given(entry.key, entry.value, where)


def from_environment(
    variables: Mapping[str, str], catalogue: Mapping[str, Setting]
) -> Iterator[Given | Problem]:
    """What the environment gives. A SIGNPOST_ variable that means nothing is a mistake."""
    known = {setting.variable: setting for setting in catalogue.values()}
    for name, text in sorted(variables.items()):
        if not name.startswith(PREFIX) or name in _NOT_SETTINGS:
            continue
        where = f"environment {name}"
        if name.endswith("_PORT") and _SERVICE_URL.match(text):
            continue
        if setting := known.get(name):
            yield Given(setting.key, text, where)
        elif not _SERVICE_LINK.fullmatch(name):
            yield unknown(Given(name, text, "environment"), known)


def parse_properties(text: str, where: str = "update") -> dict[str, str]:
    """Keys and values of a properties text that came over the wire, the last of each key."""
    entries = list(parse(text))
    if wrong := [entry for entry in entries if isinstance(entry, Malformed)]:
        raise SettingsError(_malformed(entry, f"{where}:{entry.line}") for entry in wrong)
    return {entry.key: entry.value for entry in entries if isinstance(entry, Entry)}


def _malformed(entry: Malformed, where: str) -> Problem:
    key = entry.text.partition("=")[0]
    what = "a \\u without four hexadecimal digits"
    return Problem(key, None, where, what, "write a backslash as \\\\")
