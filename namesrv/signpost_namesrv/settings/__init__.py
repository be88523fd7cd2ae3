"""Settings of the name server: `load` reads them, `Settings` holds them."""

from .arguments import parse_arguments
from .catalogue import Setting
from .help import help_text
from .load import load
from .model import CATALOGUE, SCHEME, LoadedSettings, Settings
from .problems import Problem, SettingsError
from .sources import parse_properties

__all__ = [
    "CATALOGUE",
    "SCHEME",
    "LoadedSettings",
    "Problem",
    "Setting",
    "Settings",
    "SettingsError",
    "help_text",
    "load",
    "parse_arguments",
    "parse_properties",
]
