"""Replacing a file so that a crash at any moment leaves the old or the new one, whole."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

# Some network and FUSE volumes cannot sync a folder; their rename is as durable as it gets.
_NO_FOLDER_SYNC = {errno.EINVAL, errno.ENOTSUP}


def replace(path: Path, data: bytes) -> None:
    """Write `data` to `path`, durable when this returns. Blocks; raises OSError.

    A symbolic link stays one: its target is replaced. Mode and, where allowed, owner are kept.
    """
    target = Path(os.path.realpath(path))
    _make_folder(target.parent)
    temp = target.with_name(f"{_temp_prefix(target)}{secrets.token_hex(6)}.tmp")
    try:
        _write(temp, data, _stat(target))
        temp.rename(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temp.unlink()
        raise
    _sync_folder(target.parent)


def remove_leftovers(path: Path) -> int:
    """Remove temporary files that a killed process left beside `path`; says how many."""
    target = Path(os.path.realpath(path))
    removed = 0
    # A volume that cannot be listed or written shows itself at the first write.
    with contextlib.suppress(OSError):
        for entry in target.parent.iterdir():
            if entry.name.startswith(_temp_prefix(target)) and entry.suffix == ".tmp":
                entry.unlink()
                removed += 1
    return removed


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        _sync_folder(folder.parent)  # a new folder is durable only in a synced parent


def _temp_prefix(target: Path) -> str:
    return f".{target.name}."


def _stat(target: Path) -> os.stat_result | None:
    try:
        return target.stat()
    except FileNotFoundError:
        return None


def _write(temp: Path, data: bytes, old: os.stat_result | None) -> None:
    mode = stat.S_IMODE(old.st_mode) if old else 0o666
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with os.fdopen(fd, "wb") as file:
        if old:
            if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
                with contextlib.suppress(PermissionError):
                    os.fchown(fd, old.st_uid, old.st_gid)
            os.fchmod(fd, mode)  # after chown, which clears bits; and the umask does not count
        file.write(data)
        file.flush()
        os.fsync(fd)


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    except OSError as e:
        if e.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(fd)
