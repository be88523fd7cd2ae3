"""`signpost-operator`."""

from __future__ import annotations

import asyncio
import sys

from .app import run
from .logs import configure
from .settings import SettingsError, load


def main() -> None:
    """Run the operator."""
    try:
        settings = load(sys.argv[1:])
    except SettingsError as error:
        print(f"signpost-operator: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    configure(settings.log_format, settings.log_level)
    raise SystemExit(asyncio.run(run(settings)))


if __name__ == "__main__":
    main()
