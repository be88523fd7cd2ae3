"""All settings of the name server as one frozen model."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from pydantic import Field

from .catalogue import Setting, catalogue, show
from .checks import conflicts
from .given import Given
from .groups import Files, Logging, Network, Routes, Shutdown, Warmup
from .http import Http, Peers
from .kinds import Group
from .problems import Conflict
from .scheme import Loaded, Scheme
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
        return SCHEME.value(self, key)

    def stock_properties(self) -> str:
        """The settings as a stock server reports them to admin tools."""
        return "".join(f"{key}={show(self.value(key), ';')}\n" for key in REPORTED)

    def with_updates(self, updates: Mapping[str, str], where: str = "update") -> "Settings":
        """These settings with some changed; SettingsError when any of the changes is wrong."""
        given = [Given(key, text, where) for key, text in updates.items()]
        return SCHEME.make(given, base=self).settings


def _conflicts(settings: Settings) -> Iterator[Conflict]:
    live = [key for key, setting in CATALOGUE.items() if setting.about.live]
    return conflicts(settings.network, settings.tls, settings.access, settings.http, live)


CATALOGUE: Mapping[str, Setting] = MappingProxyType(catalogue(Settings))
"""Every setting by its key."""

SCHEME = Scheme(Settings, CATALOGUE, _conflicts)

LoadedSettings = Loaded[Settings]
"""The settings of the name server, and where each came from."""
