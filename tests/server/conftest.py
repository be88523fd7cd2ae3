"""What several modules here need."""

import logging
from collections.abc import Callable, Iterator

import pytest

from tests.tls.conftest import _issued, pki

__all__ = ["_issued", "pki"]


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname.lower()} {record.getMessage()}")


@pytest.fixture
def logged() -> Iterator[Callable[[], list[str]]]:
    """The log lines so far, each with its level in front."""
    handler = _Lines()
    root = logging.getLogger("signpost")
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield lambda: handler.lines
    root.removeHandler(handler)
    root.setLevel(level)
