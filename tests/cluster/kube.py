"""What the tests themselves say to the API server: plain JSON over one connection a call."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

Object = dict[str, Any]
SECONDS = 30.0
GROUP = "/apis/signpost.dev/v1alpha1"
_PLURALS = {
    "ConfigMap": "/api/v1 configmaps",
    "Event": "/api/v1 events",
    "Pod": "/api/v1 pods",
    "Secret": "/api/v1 secrets",
    "Service": "/api/v1 services",
    "ServiceAccount": "/api/v1 serviceaccounts",
    "PersistentVolumeClaim": "/api/v1 persistentvolumeclaims",
    "Deployment": "/apis/apps/v1 deployments",
    "StatefulSet": "/apis/apps/v1 statefulsets",
    "PodDisruptionBudget": "/apis/policy/v1 poddisruptionbudgets",
    "NetworkPolicy": "/apis/networking.k8s.io/v1 networkpolicies",
    "Lease": "/apis/coordination.k8s.io/v1 leases",
    "Broker": f"{GROUP} brokers",
    "NameServerCluster": f"{GROUP} nameserverclusters",
    "RouteHealthReport": f"{GROUP} routehealthreports",
}


class UnreachableError(Exception):
    """Nobody answered."""


class RefusedError(Exception):
    """The API server answered with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


def path_of(kind: str, namespace: str, name: str = "") -> str:
    """Where objects of a kind live."""
    root, plural = _PLURALS[kind].split()
    return f"{root}/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


class Kube:
    """One user's view of the API."""

    def __init__(self, url: str, token: str, tls: ssl.SSLContext) -> None:
        self._address = urlsplit(url).netloc
        self._token = token
        self._tls = tls

    def call(
        self, method: str, path: str, body: object = None, kind: str = "application/json"
    ) -> Any:
        """The parsed answer; text where it is not JSON."""
        connection = http.client.HTTPSConnection(self._address, context=self._tls, timeout=SECONDS)
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
        try:
            sent = None if body is None else json.dumps(body)
            connection.request(method, path, sent, headers)
            response = connection.getresponse()
            text = response.read().decode()
        except (OSError, http.client.HTTPException) as error:
            raise UnreachableError(str(error)) from error
        finally:
            connection.close()
        is_json = "json" in (response.getheader("Content-Type") or "")
        answer: Any = json.loads(text) if is_json else text
        if response.status >= 400:
            raise RefusedError(response.status, answer["message"] if is_json else text)
        return answer

    def get(self, path: str) -> Any:
        return self.call("GET", path)

    def find(self, kind: str, namespace: str, name: str) -> Object | None:
        """The object, or None."""
        try:
            found: Object = self.get(path_of(kind, namespace, name))
        except RefusedError as refused:
            if refused.status == 404:
                return None
            raise
        return found

    def read(self, kind: str, namespace: str, name: str) -> Object:
        """The object, which must be there."""
        found: Object = self.get(path_of(kind, namespace, name))
        return found

    def items(self, path: str, **query: str) -> list[Object]:
        found: list[Object] = self.get(f"{path}?{urlencode(query)}")["items"]
        return found

    def all(
        self, kind: str, namespace: str, labels: Mapping[str, str] | None = None
    ) -> list[Object]:
        """The objects of a kind in a namespace."""
        selector = ",".join(f"{key}={value}" for key, value in (labels or {}).items())
        return self.items(path_of(kind, namespace), labelSelector=selector)

    def create(self, body: Object) -> Object:
        """Make an object where its metadata says."""
        made: Object = self.call("POST", path_of(body["kind"], body["metadata"]["namespace"]), body)
        return made

    def merge(self, kind: str, namespace: str, name: str, patch: Object, sub: str = "") -> Object:
        """Change some fields, as `kubectl patch --type=merge` does."""
        path = path_of(kind, namespace, name) + (f"/{sub}" if sub else "")
        made: Object = self.call("PATCH", path, patch, "application/merge-patch+json")
        return made

    def delete(self, kind: str, namespace: str, name: str, **options: object) -> None:
        self.call("DELETE", path_of(kind, namespace, name), options or None)

    def namespace(self, name: str) -> None:
        """Make a namespace."""
        self.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
