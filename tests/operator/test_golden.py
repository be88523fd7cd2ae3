"""Whole manifests, to be read by people: `GOLDEN=write pytest tests/operator/test_golden.py`."""

import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from signpost_operator.desired import Manifest, brokers, kv_file, kv_map, name_servers, report
from signpost_operator.desired.report import report_run
from tests.operator.made import CONTEXT, broker, cluster

GOLDEN = Path(__file__).parent / "golden"
SECURE: dict[str, Any] = {
    "replicas": 5,
    "tls": {"secretName": "routes-tls", "mode": "Enforcing", "clientAuth": "Optional"},
    "access": {
        "httpTokenSecret": {"name": "routes-tokens"},
        "httpReadsNeedToken": True,
        "adminAddresses": ["10.0.0.0/8"],
        "brokerNamespaces": ["shop"],
    },
    "exposure": {"type": "LoadBalancer", "annotations": {"dns.example/name": "mq"}},
    "monitoring": {"podMonitor": True},
    "networkPolicy": {"clients": [{"namespaceSelector": {"matchLabels": {"mq": "yes"}}}]},
    "config": {"logLevel": "debug", "enableAllTopicList": False},
}
DECLARED: dict[str, Any] = {
    "groups": 2,
    "sidecar": {"mode": "Declared", "topics": [{"name": "orders", "writeQueues": 8}]},
    "command": ["shop-broker"],
    "storage": {"type": "Ephemeral"},
}


class Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    ),
)


def kv() -> list[Manifest]:
    made = kv_map(cluster(), kv_file({"ORDER_TOPIC_CONFIG": {"orders": "orders-0:4"}}))
    return [made] if made else []


def apache() -> list[Manifest]:
    made = report_run(cluster(report={"operator": "Apache"}), CONTEXT, datetime(2026, 5, 4, 3, 2))
    return [made] if made else []


CASES = {
    "nameservers": name_servers(cluster(), CONTEXT, [broker(groups=2)]) + kv(),
    "nameservers-secure": name_servers(cluster(**SECURE), CONTEXT),
    "broker": brokers(broker(replicasPerGroup=2), cluster(), CONTEXT, {}),
    "broker-declared": brokers(broker(**DECLARED), cluster(), CONTEXT, {}),
    "report-kubeflow": report(cluster(report={}), CONTEXT),
    "report-apache": apache(),
}


@pytest.mark.parametrize("name", CASES)
def test_the_manifests_are_as_they_were_read(name: str) -> None:
    path = GOLDEN / f"{name}.yaml"
    text = yaml.dump_all(CASES[name], Dumper=Dumper, sort_keys=False, width=98)
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text)
    assert path.read_text() == text


def test_no_manifest_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(CASES)
