"""What the bench runs: its C programs and the jars of the Java name server, from the cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
POM = HERE.parent / "tests" / "conformance" / "pom.xml"


class ToolError(Exception):
    """A program that the bench needs is missing or failed."""


def compiled(name: str) -> Path:
    """The program made of `name`.c, compiled when the sources changed."""
    digest = hashlib.sha256()
    for source in sorted([*HERE.glob("*.h"), HERE / f"{name}.c"]):
        digest.update(source.read_bytes())
    folder = _cache() / "bench"
    target = folder / f"{name}-{digest.hexdigest()[:16]}"

    def compile_into(part: Path) -> None:
        _run("cc", "-O2", "-Wall", "-Wextra", "-o", str(part), str(HERE / f"{name}.c"))

    return _made_once(folder, target, compile_into)


def rocketmq_jars() -> Path:
    """The folder with the jars of RocketMQ 5.3.3; the conformance tests use the same one."""
    root = _cache() / "rocketmq-5.3.3"

    def fetch_into(part: Path) -> None:
        _run(
            "mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies",
            f"-DoutputDirectory={part}", "-DincludeScope=runtime",
        )  # fmt: skip

    return _made_once(root, root / "lib", fetch_into)


def _cache() -> Path:
    given = os.environ.get("SIGNPOST_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(given) if given else Path(home) / "signpost"


def _made_once(folder: Path, target: Path, make: Callable[[Path], None]) -> Path:
    """Make `target` beside itself and rename it, so that half of it is never used."""
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / "lock"):
        if not target.exists():
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                part = Path(scratch) / "made"
                make(part)
                part.rename(target)
    return target


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _run(*command: str) -> None:
    if shutil.which(command[0]) is None:
        raise ToolError(f"the bench needs {command[0]}, which is not installed")
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise ToolError(f"{command[0]} ended with {done.returncode}:\n{done.stdout}")
