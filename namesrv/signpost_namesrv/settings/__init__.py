"""Settings of the name server: `load` reads them, `Settings` holds them."""

from .model import Settings

__all__ = ["Settings"]
