"""The process: its parts made from the settings, joined, started and stopped."""

from .run import run

__all__ = ["run"]
