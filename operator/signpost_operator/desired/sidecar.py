"""The sidecar container of broker pods."""

from signpost_operator import names
from signpost_operator.resources.broker import Broker
from signpost_operator.resources.nameserver import NameServerCluster

from . import pods
from .brokerconf import HA_PORT
from .context import Context, Manifest
from .properties import REMOTING_PORT

NAME = "sidecar"
HTTP_PORT = 8081
CONF_FOLDER = "/etc/signpost/broker"
TLS_FOLDER = "/etc/signpost/tls"
MEMORY_FOLDER = "/var/lib/signpost"
TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - where it is mounted
_TOKEN_SECONDS = 3607

POD_VARIABLES: list[Manifest] = [
    {
        "name": "POD_INDEX",
        "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{names.POD_INDEX}']"}},
    },
    {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
]


def container(broker: Broker, cluster: NameServerCluster, context: Context) -> Manifest:
    """An init container that stays: up before the broker starts, there until it has stopped."""
    spec = broker.spec.sidecar
    mounts: list[Manifest] = [{"name": "config", "mountPath": CONF_FOLDER, "readOnly": True}]
    if spec.mode == "Carry":
        mounts.append({"name": "memory", "mountPath": MEMORY_FOLDER})
    if tls_secret(broker, cluster):
        mounts.append({"name": "tls", "mountPath": TLS_FOLDER, "readOnly": True})
    if spec.discovery == "EndpointSlices":
        mounts.append({"name": "token", "mountPath": TOKEN_FOLDER, "readOnly": True})
    return {
        "name": NAME,
        "image": context.image(spec.image, None, context.namesrv_image),
        "imagePullPolicy": broker.spec.image_pull_policy,
        "command": ["signpost-sidecar"],
        "restartPolicy": "Always",
        "env": [*POD_VARIABLES, *_environment(broker, cluster)],
        "ports": [{"name": pods.HTTP, "containerPort": HTTP_PORT, "protocol": "TCP"}],
        "startupProbe": pods.probe("/healthz", periodSeconds=1, failureThreshold=60),
        "readinessProbe": pods.probe("/readyz", periodSeconds=5, timeoutSeconds=2),
        "livenessProbe": pods.probe("/healthz", periodSeconds=10, timeoutSeconds=5),
        # Runs as soon as the pod is to go, while the broker still serves.
        "lifecycle": {"preStop": {"exec": {"command": ["signpost-sidecar", "drain"]}}},
        "resources": pods.resources(spec.resources),
        "securityContext": pods.CONFINED | {"runAsUser": pods.USER, "runAsGroup": pods.USER},
        "volumeMounts": mounts,
    }


def tls_secret(broker: Broker, cluster: NameServerCluster) -> str | None:
    """The Secret with which the sidecar speaks TLS; None: it speaks plain."""
    if broker.spec.sidecar.tls_secret_name:
        return broker.spec.sidecar.tls_secret_name
    tls = cluster.spec.tls
    same = cluster.namespace == broker.namespace
    return tls.secret_name if tls and tls.mode == "Enforcing" and same else None


def volumes(broker: Broker, cluster: NameServerCluster) -> list[Manifest]:
    """What it mounts besides the configuration."""
    found: list[Manifest] = []
    if broker.spec.sidecar.mode == "Carry":
        found.append({"name": "memory", "emptyDir": {}})
    if secret := tls_secret(broker, cluster):
        given: Manifest = {"secretName": secret}
        if not broker.spec.sidecar.tls_secret_name:
            # The name servers' own Secret: their key is none of the sidecar's business.
            given["items"] = [{"key": "ca.crt", "path": "ca.crt"}]
        found.append({"name": "tls", "secret": given})
    if broker.spec.sidecar.discovery == "EndpointSlices":
        sources = [
            {"serviceAccountToken": {"path": "token", "expirationSeconds": _TOKEN_SECONDS}},
            {
                "configMap": {
                    "name": "kube-root-ca.crt",
                    "items": [{"key": "ca.crt", "path": "ca.crt"}],
                }
            },
        ]
        found.append({"name": "token", "projected": {"sources": sources}})
    return found


def _environment(broker: Broker, cluster: NameServerCluster) -> list[Manifest]:
    spec = broker.spec.sidecar
    service = names.namesrv_headless(cluster.name)
    settings = {"LOG_FORMAT": "json", "DRAIN_WAIT_SECONDS": spec.drain_seconds}
    if spec.discovery == "DNS":
        dns = names.service_dns(service, cluster.namespace)
        settings["NAMESRV_DNS"] = f"{dns}:{REMOTING_PORT}"
    else:
        settings["NAMESRV_SERVICE"] = f"{cluster.namespace}/{service}:{REMOTING_PORT}"
    if spec.mode == "Declared":
        settings["DECLARED_FILE"] = f"{CONF_FOLDER}/declared-$(POD_INDEX).yaml"
        settings["BEAT_SECONDS"] = spec.beat_seconds
    else:
        settings["MEMORY_FILE"] = f"{MEMORY_FOLDER}/registrations"
        # What clients are told may lead nowhere from inside the pod.
        settings["BROKER_PROBE"] = f"127.0.0.1:{HA_PORT}"
    if tls_secret(broker, cluster):
        settings["TLS_ENABLE"] = "true"
        settings["TLS_CLIENT_TRUST_CERT_PATH"] = f"{TLS_FOLDER}/ca.crt"
        tls = cluster.spec.tls
        if spec.tls_secret_name and tls and tls.client_auth != "None":
            settings["TLS_CLIENT_CERT_PATH"] = f"{TLS_FOLDER}/tls.crt"
            settings["TLS_CLIENT_KEY_PATH"] = f"{TLS_FOLDER}/tls.key"
    return [
        {"name": f"SIGNPOST_{key}", "value": str(value)} for key, value in sorted(settings.items())
    ]
