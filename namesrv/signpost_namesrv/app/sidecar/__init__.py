"""The sidecar's process."""

from .run import run

__all__ = ["run"]
