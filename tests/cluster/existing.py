"""A cluster that is there already, instead of one of the tests' own: it must be disposable.

`KUBECONFIG=FILE USE_EXISTING_CLUSTER=true`: a KUBECONFIG alone is not enough, for most people
have one that leads to something they want to keep. Its user must log in by a token; there should
be no nodes, for the tests play the kubelet themselves.
"""

from __future__ import annotations

import base64
import os
import shutil
from pathlib import Path
from typing import Any, Self

import pytest
import yaml

from tests.cluster.apiserver import ADMIN, ApiServer
from tests.cluster.binaries import UnavailableError


def wanted() -> bool:
    """Whether a cluster was given."""
    return bool(os.environ.get("KUBECONFIG")) and os.environ.get("USE_EXISTING_CLUSTER") == "true"


class ExistingCluster(ApiServer):
    """Like one of the tests' own, but that nothing is started, restarted or stopped."""

    def __init__(self, folder: Path) -> None:
        kubectl = shutil.which("kubectl")
        if kubectl is None:
            raise UnavailableError("an existing cluster needs kubectl")
        super().__init__(Path(kubectl).parent, folder)
        document: dict[str, Any] = yaml.safe_load(Path(os.environ["KUBECONFIG"]).read_text())
        context = _named(document, "context", document["current-context"])
        cluster = _named(document, "cluster", context["cluster"])
        token = _named(document, "user", context["user"]).get("token")
        if not token:
            raise UnavailableError("the user of KUBECONFIG must log in by a token")
        self.url = cluster["server"].rstrip("/")
        self._tokens = {ADMIN: token}
        self.certificate = cluster.get("certificate-authority", "")
        if given := cluster.get("certificate-authority-data"):
            path = folder / "ca.crt"
            path.write_bytes(base64.b64decode(given))
            self.certificate = str(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def restart_server(self) -> None:
        pytest.skip("the API server is not the tests' own")


def _named(document: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(
        each[kind] for each in document[f"{kind}s"] if each["name"] == name
    )
    return found
