"""The sidecar finds name servers by EndpointSlices, with a service account as a pod has one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from signpost_namesrv.sidecar.discovery.slices import Service, Slices
from signpost_namesrv.sidecar.discovery.source import DiscoveryError
from tests.cluster.apiserver import ApiServer
from tests.cluster.kube import Kube

RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/sidecars"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/sidecars/endpointslices"
ACCOUNTS = "/api/v1/namespaces/sidecars/serviceaccounts"


@pytest.fixture
def account(api_server: ApiServer, kube: Kube, tmp_path: Path) -> Path:
    """The folder that Kubernetes mounts into a pod."""
    kube.call("POST", "/api/v1/namespaces", {"metadata": {"name": "sidecars"}})
    kube.call("POST", ACCOUNTS, {"metadata": {"name": "broker"}})
    token = kube.call("POST", f"{ACCOUNTS}/broker/token", {"spec": {}})["status"]["token"]
    (tmp_path / "token").write_text(token)
    (tmp_path / "ca.crt").write_text(Path(api_server.certificate).read_text())
    return tmp_path


def _allow(kube: Kube) -> None:
    rule = {
        "apiGroups": ["discovery.k8s.io"],
        "resources": ["endpointslices"],
        "verbs": ["list", "watch"],
    }
    kube.call("POST", f"{RBAC}/roles", {"metadata": {"name": "find"}, "rules": [rule]})
    subject = {"kind": "ServiceAccount", "name": "broker", "namespace": "sidecars"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "find"}
    binding = {"metadata": {"name": "find"}, "roleRef": role, "subjects": [subject]}
    kube.call("POST", f"{RBAC}/rolebindings", binding)


def _slice(name: str, *hosts: str, ready: bool) -> dict[str, Any]:
    labels = {"kubernetes.io/service-name": "namesrv"}
    return {
        "metadata": {"name": name, "labels": labels},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [host], "conditions": {"ready": ready}} for host in hosts],
        "ports": [{"port": 9876}],
    }


async def test_a_service_is_followed(api_server: ApiServer, kube: Kube, account: Path) -> None:
    source = Slices(Service(api_server.url, "sidecars", "namesrv", 9876, account))
    with pytest.raises(DiscoveryError, match="status 403"):
        await source.look()
    _allow(kube)
    kube.call("POST", SLICES, _slice("a", "10.0.0.1", ready=True))
    while True:
        try:
            found = await source.look()
            break
        except DiscoveryError:  # the authorizer learns of the role a moment later
            await asyncio.sleep(0.05)
    assert found.addresses == ("10.0.0.1:9876",)

    looking = asyncio.create_task(source.look())
    await asyncio.to_thread(kube.call, "POST", SLICES, _slice("b", "10.0.0.2", ready=False))
    assert (await looking).addresses == ("10.0.0.1:9876", "10.0.0.2:9876")

    looking = asyncio.create_task(source.look())
    await asyncio.to_thread(kube.call, "DELETE", f"{SLICES}/a")
    assert (await looking).addresses == ("10.0.0.2:9876",)

    source._book.version = "1"  # long compacted, or the last of another life
    await source._end_watch()
    kube.call("POST", SLICES, _slice("c", "10.0.0.3", ready=True))
    addresses: tuple[str, ...] = ()
    async with asyncio.timeout(30):
        while addresses != ("10.0.0.2:9876", "10.0.0.3:9876"):
            try:
                addresses = (await source.look()).addresses
            except DiscoveryError:
                await asyncio.sleep(0.05)
    await source.close()
