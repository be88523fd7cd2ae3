"""The command `signpost-namesrv`."""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version

from . import logs
from .settings import SettingsError, help_text, load, parse_arguments, settings_text


def main(words: Sequence[str] | None = None, environment: Mapping[str, str] = os.environ) -> int:
    """Read the settings and run the server; returns the exit code."""
    arguments = parse_arguments(sys.argv[1:] if words is None else words)
    if arguments.action == "help":
        return _show(help_text())
    if arguments.action == "version":
        return _show(f"signpost-namesrv {version('signpost-namesrv')}\n")
    try:
        loaded = load(arguments, environment)
    except SettingsError as error:
        for problem in error.problems:
            print(f"signpost-namesrv: {problem}", file=sys.stderr)
        return 2
    if arguments.action == "print":
        return _show(settings_text(loaded))
    logging = loaded.settings.logging
    logs.configure(logging.log_level, logging.log_format)
    if loaded.without_effect:
        logs.get("settings").warning("settings without effect here", keys=loaded.without_effect)
    from .app import run  # not for -h and -p, which should be quick

    return run(loaded)


def _show(text: str) -> int:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:  # `-h | head`: nobody wants the rest, nor a traceback
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
