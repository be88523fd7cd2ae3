"""The settings of one program: how a model of them is made from what was given."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import Generic, TypeVar

from pydantic import ValidationError

from .catalogue import Setting, show
from .given import Given, read
from .kinds import Group
from .problems import Conflict, Problem, SettingsError

S = TypeVar("S", bound=Group)


@dataclass(frozen=True, slots=True)
class Loaded(Generic[S]):
    """Settings, and where each came from."""

    settings: S
    origins: Mapping[str, str]
    """By key: "default", "file PATH:LINE", "environment VARIABLE" or "command line"."""
    without_effect: tuple[str, ...]
    """The keys that were set although they have no effect here."""


@dataclass(frozen=True, slots=True)
class Scheme(Generic[S]):
    """A model whose fields are groups of settings, its catalogue, and what must not meet."""

    model: type[S]
    catalogue: Mapping[str, Setting]
    conflicts: Callable[[S], Iterable[Conflict]]

    def value(self, settings: S, key: str) -> object:
        """The value of a key."""
        setting = self.catalogue[key]
        return getattr(getattr(settings, setting.group), setting.attribute)

    def make(
        self, given: Iterable[Given], base: S | None = None, earlier: Iterable[Problem] = ()
    ) -> Loaded[S]:
        """Settings from what was given, the later over the earlier; all problems in one error."""
        reading = read(given, self.catalogue)
        origins = dict.fromkeys(self.catalogue, "default") | reading.origins
        problems = [*earlier, *reading.problems]
        groups: dict[str, Group] = {}
        for name in self.model.model_fields:
            try:
                groups[name] = self._group(name, reading.values, base)
            except ValidationError as error:
                problems += self._bad_defaults(name, error)
        if len(groups) == len(self.model.model_fields):
            settings = self.model.model_validate(groups)
            problems += self._conflicts(settings, origins, reading.wrong)
        if problems:
            raise SettingsError(problems)
        idle = (key for key, setting in self.catalogue.items() if not setting.about.effect)
        without_effect = tuple(key for key in idle if key in reading.origins)
        return Loaded(settings, MappingProxyType(origins), without_effect)

    def _group(self, name: str, values: Mapping[str, object], base: S | None) -> Group:
        ours = [setting for setting in self.catalogue.values() if setting.group == name]
        here = {s.attribute: values[s.key] for s in ours if s.key in values}
        before = dict(getattr(base, name)) if base else {}
        return ours[0].model.model_validate(before | here)

    def _bad_defaults(self, group: str, error: ValidationError) -> Iterator[Problem]:
        wrong = {problem["loc"][0]: problem["msg"] for problem in error.errors()}
        for key, setting in self.catalogue.items():
            if setting.group == group and setting.attribute in wrong:
                what = wrong[setting.attribute].removeprefix("Value error, ")
                yield Problem(key, setting.default, "default", what, f"set {key}")

    def _conflicts(
        self, settings: S, origins: Mapping[str, str], wrong: Set[str]
    ) -> Iterator[Problem]:
        for conflict in self.conflicts(settings):
            # A value that could not be read says nothing about the others.
            if not wrong & set(conflict.keys):
                key = conflict.keys[0]
                value = show(self.value(settings, key))
                yield Problem(key, value, origins[key], conflict.what, conflict.remedy)
