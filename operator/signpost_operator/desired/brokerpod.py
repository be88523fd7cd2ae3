"""The pods of a Broker: the broker, its sidecar, and how both leave."""

from signpost_operator import names
from signpost_operator.resources.broker import Broker
from signpost_operator.resources.nameserver import NameServerCluster

from . import brokerconf, pods, sidecar
from .brokerconf import Hosts
from .context import Context, Manifest, Owner

STORE = "store"
USER = 3000
"""Whom the stock image runs as."""
DRAIN_SPARE = 2
SPARE_SECONDS = 10

_STOP = """\
sleep {drain}
for each in /proc/[0-9]*; do
  if [ "$(cat $each/comm 2>/dev/null)" = java ]; then
    kill -TERM ${{each#/proc/}}
    while [ -d $each ]; do sleep 1; done
  fi
done
"""
"""The stock image's scripts do not pass signals on to Java: so it is told here."""


def template(
    owner: Owner,
    broker: Broker,
    cluster: NameServerCluster,
    context: Context,
    group: int,
    hosts: Hosts,
) -> Manifest:
    """The pod template of a group."""
    spec = broker.spec
    selector = names.group_selector(broker.name, group)
    annotations = {}
    if spec.sidecar.mode == "Carry":
        # The master's file stands for all: another replica must not roll the ones that are there.
        conf = brokerconf.broker_conf(broker, group, 0, hosts)
        annotations[names.CONFIG_HASH] = names.digest(conf)
    return pods.template(
        spec,
        labels=names.labels(owner.kind, owner.name, owner.role) | selector,
        annotations=annotations,
        selector=selector,
        spec={
            "serviceAccountName": names.brokers(broker.name),
            "automountServiceAccountToken": False,
            "securityContext": pods.pod_security(USER),
            "terminationGracePeriodSeconds": _drain_seconds(broker)
            + spec.stop_seconds
            + SPARE_SECONDS,
            "initContainers": [sidecar.container(broker, cluster, context)],
            "containers": [_broker(broker)],
            "volumes": _volumes(broker, cluster, group),
        },
    )


def _drain_seconds(broker: Broker) -> int:
    return broker.spec.sidecar.drain_seconds + DRAIN_SPARE


def _broker(broker: Broker) -> Manifest:
    spec = broker.spec
    declared = spec.sidecar.mode == "Declared"
    found: Manifest = {
        "name": names.BROKER,
        "image": spec.image,
        "imagePullPolicy": spec.image_pull_policy,
        **(_declared(broker) if declared else _stock(broker)),
        "resources": pods.resources(spec.resources),
        "securityContext": pods.CONFINED,
        "volumeMounts": [
            {"name": "config", "mountPath": sidecar.CONF_FOLDER, "readOnly": True},
            {"name": STORE, "mountPath": brokerconf.STORE_FOLDER},
            {"name": "logs", "mountPath": "/home/rocketmq/logs"},
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - the container's own
        ],
    }
    found["env"] = [
        *sidecar.POD_VARIABLES,
        *([] if declared else [{"name": "JAVA_OPT_EXT", "value": spec.java_options}]),
        *({"name": one.name, "value": one.value} for one in spec.env),
    ]
    return found


def _stock(broker: Broker) -> Manifest:
    """A RocketMQ broker as its image has it."""
    alive = {"tcpSocket": {"port": brokerconf.HA_PORT}}
    conf = f"{sidecar.CONF_FOLDER}/broker-$(POD_INDEX).conf"
    script = _STOP.format(drain=_drain_seconds(broker))
    return {
        "args": ["sh", "mqbroker", "-c", conf],
        "startupProbe": alive | {"periodSeconds": 5, "failureThreshold": 180},
        "livenessProbe": alive | {"periodSeconds": 20, "timeoutSeconds": 5, "failureThreshold": 6},
        "lifecycle": {"preStop": {"exec": {"command": ["sh", "-c", script]}}},
    }


def _declared(broker: Broker) -> Manifest:
    """Any program."""
    spec = broker.spec
    check, port = spec.sidecar.health_check, spec.advertise.port
    at = check.port or port
    probe: Manifest = {"tcpSocket": {"port": at}}
    if check.http_path:
        probe = {"httpGet": {"path": check.http_path, "port": at}}
    found: Manifest = {
        "ports": [{"name": "broker", "containerPort": port, "protocol": "TCP"}],
        "startupProbe": probe | {"periodSeconds": 2, "failureThreshold": 300},
        "readinessProbe": probe | {"periodSeconds": 5, "timeoutSeconds": 2},
        "lifecycle": {"preStop": {"sleep": {"seconds": _drain_seconds(broker)}}},
    }
    if spec.command:
        found["command"] = list(spec.command)
    if spec.args:
        found["args"] = list(spec.args)
    return found


def _volumes(broker: Broker, cluster: NameServerCluster, group: int) -> list[Manifest]:
    found: list[Manifest] = [
        {"name": "config", "configMap": {"name": names.group(broker.name, group)}},
        {"name": "logs", "emptyDir": {}},
        {"name": "tmp", "emptyDir": {}},
        *sidecar.volumes(broker, cluster),
    ]
    if broker.spec.storage.type == "Ephemeral":
        found.append({"name": STORE, "emptyDir": {}})
    return found
