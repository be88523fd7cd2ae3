"""The real RocketMQ: its jars from Maven, and JVMs that run them.

Everything that was downloaded or compiled stays in the cache folder for the next run.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROCKETMQ = "rocketmq-5.3.3"
HERE = Path(__file__).parent
SOURCES = HERE / "java"
# A test JVM lives for seconds: start fast rather than run fast.
START_FAST = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"]


def missing_tools() -> list[str]:
    """Which of the programs that the JVM tests need are not installed."""
    return [tool for tool in ("java", "javac", "mvn") if shutil.which(tool) is None]


@dataclass(frozen=True, slots=True)
class Java:
    """How to run a class of RocketMQ, or a driver of ours."""

    classpath: str

    def command(
        self, main: str, home: Path, *args: str, heap: str = "256m", **flags: str
    ) -> list[str]:
        """A command line; whatever the class writes to the home folder goes to `home`."""
        properties = {
            "user.home": str(home),
            "rocketmq.home.dir": str(home),
            "rmq.logback.configurationFile": str(SOURCES / "logback.xml"),
        } | flags
        options = [f"-D{key}={value}" for key, value in properties.items()]
        return ["java", f"-Xmx{heap}", *START_FAST, *options, "-cp", self.classpath, main, *args]


def toolchain() -> Java:
    """The jars and the compiled drivers, fetched and built when they are not there yet."""
    cache = Path(os.environ.get("SIGNPOST_CACHE") or _default_cache())
    root = cache / ROCKETMQ
    digest = hashlib.sha256()
    for source in sorted(SOURCES.glob("*.java")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    lib, classes = root / "lib", root / f"classes-{digest.hexdigest()[:16]}"
    root.mkdir(parents=True, exist_ok=True)
    with _locked(root / "lock"):
        _made_once(lib, _fetch)
        _made_once(classes, lambda target: _compile(lib, target))
    return Java(f"{classes}:{lib}/*")


def _default_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "signpost"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _made_once(target: Path, make: Callable[[Path], None]) -> None:
    """Fill a folder beside `target` and rename it, so that half a folder is never used."""
    if target.is_dir():
        return
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=target.name + "-") as folder:
        unfinished = Path(folder) / "made"
        unfinished.mkdir()
        make(unfinished)
        unfinished.rename(target)


def _fetch(target: Path) -> None:
    _run(
        "mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), "dependency:copy-dependencies",
        f"-DoutputDirectory={target}", "-DincludeScope=runtime",
    )  # fmt: skip


def _compile(lib: Path, target: Path) -> None:
    sources = sorted(str(source) for source in SOURCES.glob("*.java"))
    _run("javac", "-proc:none", "-cp", f"{lib}/*", "-d", str(target), *sources)


def _run(*command: str) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}:\n{done.stdout}")
