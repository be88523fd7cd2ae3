"""Where the operator meets the other programs: they take what it writes for them."""

from pathlib import Path
from typing import Any

import pytest

from signpost_namesrv.settings import load, parse_arguments
from signpost_namesrv.settings.sidecar import load as load_sidecar
from signpost_namesrv.sidecar.declared import parse as parse_declared
from signpost_operator.desired import Manifest, brokers, name_servers
from tests.operator.made import CONTEXT, broker, cluster, container, environment, one

TLS = {"secretName": "s", "mode": "Enforcing", "clientAuth": "Require"}
CLUSTERS: list[dict[str, Any]] = [
    {},
    {"config": {"logLevel": "debug", "maxConnections": 5, "orderMessageEnable": True}},
    {"tls": TLS, "access": {"adminCertNames": ["a", "b"], "adminAddresses": ["10.0.0.0/8"]}},
    {"tls": TLS | {"mode": "Permissive", "clientAuth": "None"}},
    {"access": {"httpTokenSecret": {"name": "t"}, "httpReadsNeedToken": True}},
    {"warmup": {"waitSeconds": 0, "expectedBrokers": ["C/a", "b"]}},
]
DECLARED = {"mode": "Declared", "topics": [{"name": "%RETRY%g", "perm": "ReadOnly"}]}
BROKERS: list[dict[str, Any]] = [
    {},
    {"sidecar": {"discovery": "EndpointSlices", "drainSeconds": 0}},
    {"sidecar": {"tlsSecretName": "c"}},
    {"sidecar": DECLARED | {"beatSeconds": 60}},
]


def filled_in(container: Manifest, **known: str) -> dict[str, str]:
    """The variables as a kubelet would set them."""
    found = {}
    for name, value in environment(container).items():
        text = known.get(name, "") if value is None else value
        for key, word in known.items():
            text = text.replace(f"$({key})", word)
        found[name] = text
    return found


@pytest.mark.parametrize("spec", CLUSTERS)
def test_a_name_server_takes_its_settings(spec: dict[str, Any], tmp_path: Path) -> None:
    objects = name_servers(cluster(**spec), CONTEXT, [broker(groups=2)])
    data = one(objects, "ConfigMap")["data"]
    (tmp_path / "namesrv.properties").write_text(data["namesrv.properties"])
    server = container(one(objects, "Deployment"), "name-server")
    variables = filled_in(
        server,
        SIGNPOST_ADVERTISE_ADDRESS="10.1.2.3",
        SIGNPOST_EXPECTED_BROKERS=data["expectedBrokers"],
    )
    words = [word.replace("/etc/signpost/config", str(tmp_path)) for word in server["command"][1:]]
    loaded = load(parse_arguments(words), variables)
    assert loaded.without_effect == ()
    settings = loaded.settings
    assert settings.network.listen_port == server["ports"][0]["containerPort"]
    assert settings.network.http_port == server["ports"][1]["containerPort"]
    assert "DefaultCluster/orders-1" in settings.warmup.expected_brokers
    assert settings.warmup.need_wait_for_service


@pytest.mark.parametrize("spec", BROKERS)
def test_a_sidecar_takes_its_settings(spec: dict[str, Any], tmp_path: Path) -> None:
    objects = brokers(broker(**spec), cluster(tls=TLS), CONTEXT, {})
    sidecar = container(one(objects, "StatefulSet"), "sidecar")
    variables = filled_in(sidecar, POD_INDEX="0", POD_IP="10.1.2.3")
    settings = load_sidecar(parse_arguments(sidecar["command"][1:]), variables).settings
    assert settings.listening.http_port == sidecar["ports"][0]["containerPort"]
    assert settings.tls.enable
    declared = settings.declared.declared_file
    if declared is None:
        assert "mode" not in spec.get("sidecar", {})
        return
    text = one(objects, "ConfigMap")["data"][declared.name].replace("$(POD_IP)", "10.1.2.3")
    (found,) = parse_declared(text.encode(), "here")
    assert (found.name, found.id, found.address) == ("orders-0", 0, "10.1.2.3:10911")
    assert found.topics[0].perm == 4
