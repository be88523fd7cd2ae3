"""What the commands have in common: help, version, settings printed, mistakes named."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Generic

from . import logs
from .settings.arguments import Arguments, parse_arguments
from .settings.describe import settings_text
from .settings.groups import Logging
from .settings.problems import SettingsError
from .settings.scheme import Loaded, S, Scheme


@dataclass(frozen=True, slots=True)
class Program(Generic[S]):
    """A command: its settings, and what it does with them."""

    name: str
    scheme: Scheme[S]
    help: Callable[[], str]
    load: Callable[[Arguments, Mapping[str, str]], Loaded[S]]
    logging: Callable[[S], Logging]
    run: Callable[[Loaded[S]], int]


def execute(program: Program[S], words: Sequence[str], environment: Mapping[str, str]) -> int:
    """Read the settings and run; the exit code."""
    arguments = parse_arguments(words)
    if arguments.action == "help":
        return show(program.help())
    if arguments.action == "version":
        return show(f"{program.name} {version('signpost-namesrv')}\n")
    try:
        loaded = program.load(arguments, environment)
    except SettingsError as error:
        for problem in error.problems:
            sys.stderr.write(f"{program.name}: {problem}\n")
        return 2
    if arguments.action == "print":
        return show(settings_text(program.scheme, loaded))
    logging = program.logging(loaded.settings)
    logs.configure(logging.log_level, logging.log_format)
    if loaded.without_effect:
        logs.get("settings").warning("settings without effect here", keys=loaded.without_effect)
    return program.run(loaded)


def show(text: str) -> int:
    """Print; `-h | head` wants neither the rest nor a traceback."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
