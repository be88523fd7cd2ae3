"""The command `signpost-namesrv`."""

import os
import sys
from collections.abc import Mapping, Sequence

from .command import Program, execute
from .settings import SCHEME, LoadedSettings, help_text, load


def main(words: Sequence[str] | None = None, environment: Mapping[str, str] = os.environ) -> int:
    """Read the settings and run the server; returns the exit code."""
    program = Program(
        "signpost-namesrv", SCHEME, help_text, load, lambda settings: settings.logging, _run
    )
    return execute(program, sys.argv[1:] if words is None else words, environment)


def _run(loaded: LoadedSettings) -> int:
    from .app import run  # not for -h and -p, which should be quick

    return run(loaded)


if __name__ == "__main__":
    sys.exit(main())
