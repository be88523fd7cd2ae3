"""Noticing that small files changed: certificates, keys, token files.

By polling their contents. inotify is silent on some network and FUSE volumes and watches the
wrong inode after Kubernetes swaps its `..data` link; time stamps are coarse on some volumes
and equal after a quick second write. A few kilobytes read every few seconds tell the truth
everywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

# Far above any certificate bundle; keeps a path that points at something huge harmless.
MOST_BYTES = 4 << 20


class FileWatch:
    """Remembers what the files held when it last looked; a missing file is a state too."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = tuple(paths)
        self._seen = self._look()

    def changed(self) -> bool:
        """Look again: do the files hold something else than at the last look? Blocks."""
        before, self._seen = self._seen, self._look()
        return self._seen != before

    def _look(self) -> tuple[bytes | int | None, ...]:
        return tuple(_print_of(path) for path in self._paths)


def _print_of(path: Path) -> bytes | int | None:
    try:
        with path.open("rb") as file:
            return hashlib.sha256(file.read(MOST_BYTES)).digest()
    except OSError as e:
        return e.errno
