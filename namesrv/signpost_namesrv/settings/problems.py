"""What is wrong with the settings, said so that it can be mended."""

from collections.abc import Iterable
from dataclasses import dataclass

from .catalogue import printable

_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: what was written, where it stands, what is wrong and what to do."""

    key: str
    value: str | None
    where: str
    what: str
    remedy: str

    def __str__(self) -> str:
        text = self.key if self.value is None else f"{self.key}={self.value}"
        if len(text) > _LONGEST:
            text = text[:_LONGEST] + "..."
        return f"{printable(self.where)}: {printable(text)}: {self.what}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Keys that do not go together (the one to blame first), why, and what to do."""

    keys: tuple[str, ...]
    what: str
    remedy: str


class SettingsError(Exception):
    """The settings cannot be used; `problems` has every reason."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))
