"""Settings of the name server: `load` reads them, `Settings` holds them."""

from .arguments import parse_arguments
from .catalogue import Setting
from .describe import help_text, settings_text
from .load import load
from .model import CATALOGUE, LoadedSettings, Settings
from .problems import Problem, SettingsError
from .sources import parse_properties

__all__ = [
    "CATALOGUE",
    "LoadedSettings",
    "Problem",
    "Setting",
    "Settings",
    "SettingsError",
    "help_text",
    "load",
    "parse_arguments",
    "parse_properties",
    "settings_text",
]
