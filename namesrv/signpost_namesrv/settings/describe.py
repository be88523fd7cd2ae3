"""Settings for people: what -p and -h print."""

import textwrap
from collections.abc import Iterator

from .catalogue import Setting, printable, show
from .model import CATALOGUE, LoadedSettings, Settings

_WIDTH = 96
_WIDEST_VALUE = 40

_HEAD = """\
Usage: signpost-namesrv [-c FILE] [--KEY VALUE ...]

A RocketMQ name server. Stock brokers, clients and admin tools talk to it as to the Java one;
people, dashboards and other programs read the same routes over HTTP.

  -c, --configFile FILE    read settings from a properties file; a stock namesrv.properties
                           will do as it is
  -p, --printConfigItem    print every setting, its value and where that came from, and exit
  -h, --help               print this, and exit
      --version            print the version, and exit

A setting is found in four places, the later over the earlier: its default, KEY=VALUE in FILE,
the environment variable SIGNPOST_KEY, the option --KEY VALUE (or --KEY=VALUE). A word in
camelCase or with.dots is written WITH_UNDERSCORES in the environment: listenPort is
SIGNPOST_LISTEN_PORT, tls.server.keyPath is SIGNPOST_TLS_SERVER_KEY_PATH. Lists are written
with commas. Settings below are shown with their defaults.
"""

_FOOT = """\
Examples
  signpost-namesrv                                  all defaults, port 9876
  signpost-namesrv -c namesrv.properties -p         what would this file do?
  signpost-namesrv --listenPort 9877 --httpPort -1  another port, no HTTP
  SIGNPOST_LOG_FORMAT=json signpost-namesrv         lines for a collector

Environment
  SIGNPOST_...     settings, as above; one that names no setting stops the start, except those
                   that Kubernetes makes for Services whose name starts with signpost-
  ROCKETMQ_HOME    rocketmqHome, as for a stock server

Exit codes
  0  stopped when asked to, or printed what was asked for
  1  could not start or go on: the log says why
  2  a setting is wrong: standard error names each, where it stands and what to do
"""


def help_text() -> str:
    """The whole of -h."""
    groups = [
        "\n".join([_title(name), *lines, ""])
        for name in Settings.model_fields
        if (lines := [_option(setting) for setting in _of(name) if setting.about.effect])
    ]
    idle = "\n".join(["Known from stock servers, without effect here", *_without_effect(), ""])
    return "\n".join([_HEAD, *groups, idle, _FOOT])


def settings_text(loaded: LoadedSettings) -> str:
    """The whole of -p."""
    return "\n".join(
        "\n".join([_title(name), *_table(name, loaded), ""]) for name in Settings.model_fields
    )


def _of(group: str) -> list[Setting]:
    return [setting for setting in CATALOGUE.values() if setting.group == group]


def _title(group: str) -> str:
    return f"{group}: {_of(group)[0].model.__doc__}"


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


def _without_effect() -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for setting in CATALOGUE.values():
        if not setting.about.effect:
            reasons.setdefault(setting.about.why, []).append(setting.key)
    for why, keys in reasons.items():
        yield f"  {why}"
        yield textwrap.fill(
            " ".join(keys), _WIDTH, initial_indent="      ", subsequent_indent="      "
        )


def _table(group: str, loaded: LoadedSettings) -> Iterator[str]:
    rows = [(s, show(loaded.settings.value(s.key)), loaded.origins[s.key]) for s in _of(group)]
    keys = max(len(setting.key) for setting, _, _ in rows)
    values = min(max(len(value) for _, value, _ in rows), _WIDEST_VALUE)
    for setting, value, origin in rows:
        note = "" if setting.about.effect or origin == "default" else " (without effect)"
        yield f"  {setting.key:<{keys}} = {value:<{values}}  {printable(origin)}{note}"
