"""Values as they were written somewhere, and their reading against the catalogue."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .catalogue import MASK, Setting, nearest, spellings
from .problems import Problem


@dataclass(frozen=True, slots=True)
class Given:
    """A key and a text, and where they stood."""

    key: str
    text: str
    where: str


@dataclass(slots=True)
class Reading:
    """What was given, read: the last good value of each key, and every mistake."""

    values: dict[str, object] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    wrong: set[str] = field(default_factory=set)


def read(given: Iterable[Given], catalogue: Mapping[str, Setting]) -> Reading:
    """Read everything, the later over the earlier; a mistake counts even when overridden."""
    known = spellings(catalogue)
    reading = Reading()
    for item in given:
        setting = known.get(item.key)
        if setting is None:
            reading.problems.append(unknown(item, known))
            continue
        try:
            reading.values[setting.key] = setting.parse(item.text)
            reading.origins[setting.key] = item.where
        except ValueError:
            reading.wrong.add(setting.key)
            reading.problems.append(_bad_value(item, setting))
    return reading


def unknown(item: Given, known: Mapping[str, Setting]) -> Problem:
    """The problem of a name that nobody knows."""
    guess = nearest(item.key, known)
    # A mistyped key may be that of a password.
    hide = (guess and known[guess].secret) or re.search("(?i)passw|secret|token", item.key)
    remedy = f"did you mean {guess}?" if guess else "take it out; -h lists all keys"
    return Problem(item.key, MASK if hide else item.text, item.where, "unknown key", remedy)


def _bad_value(item: Given, setting: Setting) -> Problem:
    unit = f" ({setting.about.unit})" if setting.about.unit else ""
    return Problem(
        item.key,
        MASK if setting.secret else item.text,
        item.where,
        f"not {setting.expects}{unit}",
        f"mend it, or leave it out for the default, {setting.default or 'none'}",
    )
