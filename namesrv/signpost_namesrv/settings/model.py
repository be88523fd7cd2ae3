"""All settings as one frozen model."""

from pydantic import Field

from .groups import Files, Logging, Network, Routes, Shutdown, Warmup
from .kinds import Group
from .security import Access, Tls


class Settings(Group):
    """Everything that can be set, in typed groups."""

    network: Network = Network()
    routes: Routes = Routes()
    warmup: Warmup = Warmup()
    files: Files = Field(default_factory=Files)
    tls: Tls = Tls()
    access: Access = Access()
    logging: Logging = Logging()
    shutdown: Shutdown = Shutdown()
