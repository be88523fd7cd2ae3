"""The command `signpost-sidecar`."""

import os
import sys
from collections.abc import Mapping, Sequence

from .command import Program, execute
from .settings.sidecar import SCHEME, LoadedSidecarSettings, help_text, load

NAME = "signpost-sidecar"
DEFAULT_URL = "http://127.0.0.1:8081"


def main(words: Sequence[str] | None = None, environment: Mapping[str, str] = os.environ) -> int:
    """Run the sidecar, or ask one that runs to drain; returns the exit code."""
    words = sys.argv[1:] if words is None else words
    if list(words[:1]) == ["drain"]:
        return _drain(words[1:])
    program = Program(NAME, SCHEME, help_text, load, lambda settings: settings.logging, _run)
    return execute(program, words, environment)


def _run(loaded: LoadedSidecarSettings) -> int:
    from .app.sidecar import run  # not for -h and -p, which should be quick

    return run(loaded)


def _drain(words: Sequence[str]) -> int:
    from .app.sidecar.run import drain

    if len(words) > 1:
        sys.stderr.write(f"{NAME}: usage: {NAME} drain [URL]\n")
        return 2
    trouble = drain(words[0] if words else DEFAULT_URL)
    if trouble:
        sys.stderr.write(f"{NAME}: not drained: {trouble}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
