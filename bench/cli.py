"""What the programs of the bench share on the command line."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType

from bench.load import LoadError
from bench.servers import ServerError
from bench.tools import ToolError
from bench.wire import AnswerError

_STARTED = time.monotonic()


def parser(description: str | None, parts: Sequence[str]) -> argparse.ArgumentParser:
    """The flags of every program; `parts` is what --only can choose from."""

    def chosen(text: str) -> list[str]:
        names = text.split(",")
        if unknown := set(names) - set(parts):
            raise argparse.ArgumentTypeError(
                f"{', '.join(sorted(unknown))}: not of {', '.join(parts)}"
            )
        return [part for part in parts if part in names]

    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--quick", action="store_true", help="short runs: does it work at all?")
    made.add_argument("--only", type=chosen, default=list(parts), help=f"some of {','.join(parts)}")
    made.add_argument("--out", type=Path, help="folder for the figures as JSON")
    return made


def step(text: str) -> None:
    """Say on standard error what goes on."""
    print(f"[{time.monotonic() - _STARTED:5.0f} s] {text}", file=sys.stderr, flush=True)


def write_json(folder: Path | None, name: str, figures: Mapping[str, object]) -> None:
    """Keep the figures of one program in a folder, if one was given."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps(figures, indent=2) + "\n")


def interruptible(main: Callable[[], None]) -> None:
    """Run a program so that Ctrl-C, SIGTERM and known errors end its children, then itself."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except (AnswerError, LoadError, ServerError, ToolError) as error:
        sys.exit(f"bench: {error}")
