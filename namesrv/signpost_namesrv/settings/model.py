"""All settings as one frozen model, and how it is made from what was given."""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType

from pydantic import Field, ValidationError

from .catalogue import Setting, catalogue, show
from .checks import conflicts
from .given import Given, read
from .groups import Files, Logging, Network, Routes, Shutdown, Warmup
from .http import Http, Peers
from .kinds import Group
from .problems import Problem, SettingsError
from .security import Access, Tls
from .stock import REPORTED, Stock


class Settings(Group):
    """Everything that can be set, in typed groups."""

    network: Network = Network()
    routes: Routes = Routes()
    warmup: Warmup = Warmup()
    # Made when asked for: the home directory may be unknown.
    files: Files = Field(default_factory=Files)
    tls: Tls = Tls()
    access: Access = Access()
    http: Http = Http()
    peers: Peers = Peers()
    logging: Logging = Logging()
    shutdown: Shutdown = Shutdown()
    stock: Stock = Stock()

    def value(self, key: str) -> object:
        """The value of a key."""
        setting = CATALOGUE[key]
        return getattr(getattr(self, setting.group), setting.attribute)

    def stock_properties(self) -> str:
        """The settings as a stock server reports them to admin tools."""
        return "".join(f"{key}={show(self.value(key), ';')}\n" for key in REPORTED)

    def with_updates(self, updates: Mapping[str, str], where: str = "update") -> "Settings":
        """These settings with some changed; SettingsError when any of the changes is wrong."""
        return make([Given(key, text, where) for key, text in updates.items()], base=self).settings


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Settings, and where each came from."""

    settings: Settings
    origins: Mapping[str, str]
    """By key: "default", "file PATH:LINE", "environment VARIABLE" or "command line"."""
    without_effect: tuple[str, ...]
    """The keys that were set although they have no effect here."""


CATALOGUE: Mapping[str, Setting] = MappingProxyType(catalogue(Settings))
"""Every setting by its key."""


def make(
    given: Iterable[Given], base: Settings | None = None, earlier: Iterable[Problem] = ()
) -> LoadedSettings:
    """Settings from what was given, the later over the earlier; all problems in one error."""
    reading = read(given, CATALOGUE)
    origins = dict.fromkeys(CATALOGUE, "default") | reading.origins
    problems = [*earlier, *reading.problems]
    groups: dict[str, Group] = {}
    for name in Settings.model_fields:
        try:
            groups[name] = _group(name, reading.values, base)
        except ValidationError as error:
            problems += _bad_defaults(name, error)
    if len(groups) == len(Settings.model_fields):
        settings = Settings.model_validate(groups)
        problems += _conflicts(settings, origins, reading.wrong)
    if problems:
        raise SettingsError(problems)
    idle = tuple(key for key in CATALOGUE if key in reading.origins and _idle(key))
    return LoadedSettings(settings, MappingProxyType(origins), idle)


def _idle(key: str) -> bool:
    return not CATALOGUE[key].about.effect


def _group(name: str, values: Mapping[str, object], base: Settings | None) -> Group:
    here = {
        s.attribute: values[s.key] for s in CATALOGUE.values() if s.group == name if s.key in values
    }
    before = dict(getattr(base, name)) if base else {}
    model = next(setting.model for setting in CATALOGUE.values() if setting.group == name)
    return model.model_validate(before | here)


def _bad_defaults(group: str, error: ValidationError) -> Iterator[Problem]:
    wrong = {problem["loc"][0]: problem["msg"] for problem in error.errors()}
    for key, setting in CATALOGUE.items():
        if setting.group == group and setting.attribute in wrong:
            what = wrong[setting.attribute].removeprefix("Value error, ")
            yield Problem(key, setting.default, "default", what, f"set {key}")


def _conflicts(
    settings: Settings, origins: Mapping[str, str], wrong: Set[str]
) -> Iterator[Problem]:
    live = [key for key, setting in CATALOGUE.items() if setting.about.live]
    groups = settings.network, settings.tls, settings.access, settings.http
    for conflict in conflicts(*groups, live):
        # A value that could not be read says nothing about the others.
        if not wrong & set(conflict.keys):
            key = conflict.keys[0]
            value = show(settings.value(key))
            yield Problem(key, value, origins[key], conflict.what, conflict.remedy)
