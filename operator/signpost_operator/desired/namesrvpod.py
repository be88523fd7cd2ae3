"""The pods of a NameServerCluster: how they start, when they are ready, how they leave."""

from collections.abc import Mapping, Sequence

from signpost_operator import names
from signpost_operator.resources.nameserver import NameServerCluster

from . import pods
from .context import Context, Manifest
from .properties import (
    CONFIG_FILE,
    CONFIG_FOLDER,
    DATA_FOLDER,
    HTTP_PORT,
    KV_FILE,
    REMOTING_PORT,
    SHUTDOWN_SECONDS,
    TLS_FOLDER,
    TOKEN_FILE,
    TOKEN_FOLDER,
)

EXPECTED = "expectedBrokers"
SEED_FOLDER = "/etc/signpost/kv"
LEAVING_SECONDS = 5
"""How long a pod that goes still serves: until nobody is sent to it any more."""
SPARE_SECONDS = 5

_SEED = (
    "import pathlib, shutil, sys; seed, kept = map(pathlib.Path, sys.argv[1:]); "
    "seed.exists() and not kept.exists() and shutil.copyfile(seed, kept)"
)


def pod(cluster: NameServerCluster, context: Context) -> Manifest:
    """The pod's spec."""
    spec = cluster.spec
    image = context.image(spec.image, spec.version, context.namesrv_image)
    common = {
        "image": image,
        "imagePullPolicy": spec.image_pull_policy,
        "resources": pods.resources(spec.resources),
        "securityContext": pods.CONFINED,
    }
    server = {
        "name": names.NAMESRV,
        **common,
        "command": ["signpost-namesrv", "-c", f"{CONFIG_FOLDER}/{CONFIG_FILE}"],
        "env": [
            {
                "name": "SIGNPOST_ADVERTISE_ADDRESS",
                "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}},
            },
            {
                "name": "SIGNPOST_EXPECTED_BROKERS",
                "valueFrom": {
                    "configMapKeyRef": {"name": names.namesrv(cluster.name), "key": EXPECTED}
                },
            },
        ],
        "ports": [
            {"name": pods.REMOTING, "containerPort": REMOTING_PORT, "protocol": "TCP"},
            {"name": pods.HTTP, "containerPort": HTTP_PORT, "protocol": "TCP"},
        ],
        "startupProbe": pods.probe("/healthz", periodSeconds=1, failureThreshold=60),
        "readinessProbe": pods.probe(
            "/readyz", periodSeconds=2, timeoutSeconds=2, failureThreshold=2
        ),
        "livenessProbe": pods.probe(
            "/healthz", periodSeconds=10, timeoutSeconds=5, failureThreshold=3
        ),
        "lifecycle": {"preStop": {"sleep": {"seconds": LEAVING_SECONDS}}},
        "volumeMounts": _mounts(cluster),
    }
    found: Manifest = {
        "serviceAccountName": names.namesrv(cluster.name),
        "automountServiceAccountToken": False,
        "securityContext": pods.pod_security(pods.USER),
        "terminationGracePeriodSeconds": LEAVING_SECONDS + SHUTDOWN_SECONDS + SPARE_SECONDS,
        "containers": [server],
        "volumes": _volumes(cluster),
    }
    if spec.kv.persistence == "ConfigMap":
        found["initContainers"] = [_seed(common)]
    return found


def _seed(common: Mapping[str, object]) -> Manifest:
    """Puts the copy of the KV configuration where the name server keeps its own."""
    seed, kept = f"{SEED_FOLDER}/{KV_FILE}", f"{DATA_FOLDER}/{KV_FILE}"
    return {
        "name": "kv",
        **common,
        "command": ["python3", "-c", _SEED, seed, kept],
        "volumeMounts": [
            {"name": "kv", "mountPath": SEED_FOLDER, "readOnly": True},
            {"name": "data", "mountPath": DATA_FOLDER},
        ],
    }


def _mounts(cluster: NameServerCluster) -> Sequence[Manifest]:
    mounts: list[Manifest] = [
        {"name": "config", "mountPath": CONFIG_FOLDER, "readOnly": True},
        {"name": "data", "mountPath": DATA_FOLDER},
    ]
    if cluster.spec.tls:
        mounts.append({"name": "tls", "mountPath": TLS_FOLDER, "readOnly": True})
    if cluster.spec.access.http_token_secret:
        mounts.append({"name": "http-tokens", "mountPath": TOKEN_FOLDER, "readOnly": True})
    return mounts


def _volumes(cluster: NameServerCluster) -> Sequence[Manifest]:
    spec, name = cluster.spec, names.namesrv(cluster.name)
    only = [{"key": CONFIG_FILE, "path": CONFIG_FILE}]
    volumes: list[Manifest] = [
        {"name": "config", "configMap": {"name": name, "items": only}},
        {"name": "data", "emptyDir": {"sizeLimit": spec.kv.size_limit}},
    ]
    if spec.kv.persistence == "ConfigMap":
        seed = {"name": names.namesrv_kv(cluster.name), "optional": True}
        volumes.append({"name": "kv", "configMap": seed})
    if spec.tls:
        volumes.append({"name": "tls", "secret": {"secretName": spec.tls.secret_name}})
    if token := spec.access.http_token_secret:
        items = [{"key": token.key, "path": TOKEN_FILE}]
        volumes.append(
            {"name": "http-tokens", "secret": {"secretName": token.name, "items": items}}
        )
    return volumes
