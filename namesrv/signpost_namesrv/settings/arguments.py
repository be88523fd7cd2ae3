"""The command line. Reads no values."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from .given import Given
from .problems import Problem

WHERE = "command line"
Action = Literal["run", "print", "help", "version"]

_ACTIONS: dict[str, Action] = {
    "-h": "help",
    "--help": "help",
    "-p": "print",
    "--printConfigItem": "print",
    "--version": "version",
}
_FILE = ("-c", "--configFile")


@dataclass(slots=True)
class Arguments:
    """What the command line asks for."""

    action: Action = "run"
    file: str | None = None
    given: list[Given] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def parse_arguments(words: Sequence[str]) -> Arguments:
    """Read a command line: `-c FILE`, `--key value`, `--key=value` and the actions."""
    arguments = Arguments()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word in _ACTIONS:
            # Whoever asks for help gets it, whatever else is asked for.
            if arguments.action != "help":
                arguments.action = _ACTIONS[word]
        elif name in _FILE or (name.startswith("--") and len(name) > 2):
            if not equals:
                if not rest or rest[0].startswith("--") or rest[0] in (*_ACTIONS, *_FILE):
                    arguments.problems.append(
                        _problem(word, "no value follows", f"write {word} VALUE")
                    )
                    continue
                value = rest.pop(0)
            if name in _FILE:
                arguments.file = value
            else:
                arguments.given.append(Given(name[2:], value, WHERE))
        else:
            arguments.problems.append(_problem(word, "not an option", "see -h"))
    return arguments


def _problem(word: str, what: str, remedy: str) -> Problem:
    return Problem(word, None, WHERE, what, remedy)
