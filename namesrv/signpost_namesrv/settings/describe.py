"""Settings for people: what -p and -h print."""

import textwrap
from collections.abc import Iterator

from .catalogue import Setting, printable, show
from .scheme import Loaded, S, Scheme

_WIDTH = 96
_WIDEST_VALUE = 40


def describe(scheme: Scheme[S]) -> str:
    """Every setting of a program, for its -h."""
    groups = [
        "\n".join([_title(scheme, name), *lines, ""])
        for name in scheme.model.model_fields
        if (lines := [_option(s) for s in _of(scheme, name) if s.about.effect])
    ]
    if idle := list(_without_effect(scheme)):
        groups.append("\n".join(["Known from stock servers, without effect here", *idle, ""]))
    return "\n".join(groups)


def settings_text(scheme: Scheme[S], loaded: Loaded[S]) -> str:
    """The whole of -p."""
    return "\n".join(
        "\n".join([_title(scheme, name), *_table(scheme, name, loaded), ""])
        for name in scheme.model.model_fields
    )


def _of(scheme: Scheme[S], group: str) -> list[Setting]:
    return [setting for setting in scheme.catalogue.values() if setting.group == group]


def _title(scheme: Scheme[S], group: str) -> str:
    return f"{group}: {_of(scheme, group)[0].model.__doc__}"


def _option(setting: Setting) -> str:
    default = " ".join(filter(None, (setting.default or '""', setting.about.unit)))
    choice = f" ({setting.expects})" if setting.expects.startswith("one of") else ""
    first = textwrap.wrap(
        f"--{setting.key} {default}{choice}",
        _WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
    )
    why = textwrap.wrap(
        setting.about.why, _WIDTH, initial_indent="      ", subsequent_indent="      "
    )
    return "\n".join([*first, *why])


def _without_effect(scheme: Scheme[S]) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for setting in scheme.catalogue.values():
        if not setting.about.effect:
            reasons.setdefault(setting.about.why, []).append(setting.key)
    for why, keys in reasons.items():
        yield f"  {why}"
        yield textwrap.fill(
            " ".join(keys), _WIDTH, initial_indent="      ", subsequent_indent="      "
        )


def _table(scheme: Scheme[S], group: str, loaded: Loaded[S]) -> Iterator[str]:
    rows = [
        (setting, show(scheme.value(loaded.settings, setting.key)), loaded.origins[setting.key])
        for setting in _of(scheme, group)
    ]
    keys = max(len(setting.key) for setting, _, _ in rows)
    values = min(max(len(value) for _, value, _ in rows), _WIDEST_VALUE)
    for setting, value, origin in rows:
        note = "" if setting.about.effect or origin == "default" else " (without effect)"
        yield f"  {setting.key:<{keys}} = {value:<{values}}  {printable(origin)}{note}"
