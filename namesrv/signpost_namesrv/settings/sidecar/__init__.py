"""Settings of the broker sidecar."""

from .help import help_text
from .model import CATALOGUE, SCHEME, LoadedSidecarSettings, SidecarSettings, load

__all__ = [
    "CATALOGUE",
    "SCHEME",
    "LoadedSidecarSettings",
    "SidecarSettings",
    "help_text",
    "load",
]
