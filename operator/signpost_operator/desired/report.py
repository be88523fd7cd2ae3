"""The route health job of a NameServerCluster, for either Spark operator."""

from datetime import datetime
from typing import Any

from signpost_operator import names
from signpost_operator.resources.nameserver import NameServerCluster
from signpost_operator.resources.reporting import Report

from . import pods
from .amounts import cores, mib
from .context import Context, Manifest, Owner
from .properties import HTTP_PORT, TOKEN_FILE, TOKEN_FOLDER

KUBEFLOW_API = "sparkoperator.k8s.io"
APACHE_API = "spark.apache.org"
MAIN = "local:///opt/signpost/report.py"
HISTORY_FOLDER = "/var/lib/signpost/history"
USER = 185
"""Whom Spark's own images run as."""

_HEAP_SHARE = 1.4
"""Of a Python job's memory, the heap gets one part of so many: Spark's own rule."""
_RBAC = "rbac.authorization.k8s.io"


def report(cluster: NameServerCluster, context: Context) -> list[Manifest]:
    """What stands all the time; with Apache's operator, `report_run` makes each run."""
    given = cluster.spec.report
    if given is None:
        return []
    owner = _owner(cluster)
    found = [*_rights(owner, cluster, given), *_history(owner, given)]
    if given.operator == "Kubeflow" and KUBEFLOW_API in context.apis:
        found.append(_scheduled(owner, cluster, given, context))
    return found


def report_run(cluster: NameServerCluster, context: Context, at: datetime) -> Manifest | None:
    """One run for Apache's operator, which has no schedules; None when there is none to make."""
    given = cluster.spec.report
    if given is None or given.operator != "Apache" or APACHE_API not in context.apis:
        return None
    spec: Manifest = {
        # Apache's operator starts Python jobs through Spark's own runner.
        "mainClass": "org.apache.spark.deploy.PythonRunner",
        "pyFiles": MAIN,
        "driverArgs": _arguments(cluster, given),
        "deploymentMode": "ClusterMode",
        "runtimeVersions": {"sparkVersion": given.spark_version},
        "applicationTolerations": {"resourceRetainPolicy": "Never"},
        "sparkConf": _spark_conf(cluster, given)
        | {
            "spark.kubernetes.container.image": _image(given, context),
            "spark.kubernetes.authenticate.driver.serviceAccountName": _account(cluster, given),
            "spark.executor.instances": str(max(1, given.executors)),
            **_sizes(given),
        },
        "driverSpec": {"podTemplateSpec": _template(cluster, given, "driver")},
        "executorSpec": {"podTemplateSpec": _template(cluster, given, "executor")},
    }
    name = f"{names.report(cluster.name)}-{at:%y%m%d%H%M}"
    return _owner(cluster).make(f"{APACHE_API}/v1", "SparkApplication", name, spec=spec)


def missing_api(cluster: NameServerCluster, context: Context) -> str:
    """What the cluster lacks for the report, as a sentence; empty when nothing."""
    given = cluster.spec.report
    if given is None:
        return ""
    api = KUBEFLOW_API if given.operator == "Kubeflow" else APACHE_API
    if api in context.apis:
        return ""
    return f"report needs {given.operator}'s Spark operator: the cluster has no API {api}"


def _owner(cluster: NameServerCluster) -> Owner:
    return Owner("NameServerCluster", cluster.name, cluster.namespace, cluster.uid, names.REPORT)


def _account(cluster: NameServerCluster, given: Report) -> str:
    return given.service_account_name or names.report(cluster.name)


def _image(given: Report, context: Context) -> str:
    return context.image(given.image, None, context.report_image)


def _rights(owner: Owner, cluster: NameServerCluster, given: Report) -> list[Manifest]:
    if given.service_account_name:
        return []
    name = names.report(cluster.name)
    rules: list[Manifest] = [
        {
            "apiGroups": [names.GROUP],
            "resources": ["routehealthreports"],
            "verbs": ["get", "create", "patch"],
        },
        {"apiGroups": [names.GROUP], "resources": ["brokers"], "verbs": ["get", "list"]},
        {
            "apiGroups": [names.GROUP],
            "resources": ["nameserverclusters"],
            "resourceNames": [cluster.name],
            "verbs": ["get"],
        },
    ]
    if given.executors:
        rules.append(
            {
                "apiGroups": [""],
                "resources": ["pods", "services", "configmaps", "persistentvolumeclaims"],
                "verbs": ["get", "list", "watch", "create", "patch", "delete", "deletecollection"],
            }
        )
    subject = {"kind": "ServiceAccount", "name": name, "namespace": cluster.namespace}
    role = {"apiGroup": _RBAC, "kind": "Role", "name": name}
    return [
        owner.make("v1", "ServiceAccount", name),
        owner.make(f"{_RBAC}/v1", "Role", name, rules=rules),
        owner.make(f"{_RBAC}/v1", "RoleBinding", name, subjects=[subject], roleRef=role),
    ]


def _history(owner: Owner, given: Report) -> list[Manifest]:
    """The volume. By default nobody owns it, so that it outlives its cluster."""
    history = given.history
    if history.path:
        return []
    spec: Manifest = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": history.size}},
    }
    if history.storage_class_name:
        spec["storageClassName"] = history.storage_class_name
    claim = owner.make("v1", "PersistentVolumeClaim", names.report(owner.name), spec=spec)
    if history.on_delete == "Retain":
        del claim["metadata"]["ownerReferences"]
    else:
        claim["metadata"]["ownerReferences"][0] |= {
            "controller": False,
            "blockOwnerDeletion": False,
        }
    return [claim]


def _arguments(cluster: NameServerCluster, given: Report) -> list[str]:
    peers = names.service_dns(names.namesrv_headless(cluster.name), cluster.namespace)
    words = [
        "run",
        "--namesrv-service",
        f"{peers}:{HTTP_PORT}",
        "--resource",
        f"{cluster.namespace}/{cluster.name}",
        "--out",
        given.history.path or HISTORY_FOLDER,
        "--retention-days",
        str(given.history.retention_days),
    ]
    for name, value in sorted(given.thresholds.items()):
        words += ["--threshold", f"{name}={value}"]
    if cluster.spec.access.http_token_secret:
        words += ["--token-file", f"{TOKEN_FOLDER}/{TOKEN_FILE}"]
    return words


def _spark_conf(cluster: NameServerCluster, given: Report) -> dict[str, str]:
    conf = {"spark.ui.enabled": "false"}
    if not given.executors:
        conf["spark.kubernetes.driver.master"] = f"local[{max(2, cores(_cpu(given)))}]"
    return conf | dict(given.spark_conf)


def _cpu(given: Report) -> str:
    return given.resources.requests.get("cpu") or given.resources.limits.get("cpu") or "1"


def _memory(given: Report) -> tuple[int, int]:
    """Heap and the rest, in MiB, that together fit the memory asked for."""
    resources = given.resources
    whole = mib(resources.limits.get("memory") or resources.requests.get("memory") or "2Gi")
    heap = int(whole / _HEAP_SHARE)
    return heap, whole - heap


def _sizes(given: Report) -> dict[str, str]:
    heap, rest = _memory(given)
    return {
        f"spark.{part}.{name}": value
        for part in ("driver", "executor")
        for name, value in (
            ("cores", str(cores(_cpu(given)))),
            ("memory", f"{heap}m"),
            ("memoryOverhead", f"{rest}m"),
        )
    }


def _scheduled(
    owner: Owner, cluster: NameServerCluster, given: Report, context: Context
) -> Manifest:
    heap, rest = _memory(given)
    part: Manifest = {
        "cores": cores(_cpu(given)),
        "memory": f"{heap}m",
        "memoryOverhead": f"{rest}m",
    }
    application: Manifest = {
        "type": "Python",
        "pythonVersion": "3",
        "mode": "cluster",
        "image": _image(given, context),
        "imagePullPolicy": cluster.spec.image_pull_policy,
        "mainApplicationFile": MAIN,
        "arguments": _arguments(cluster, given),
        "sparkVersion": given.spark_version,
        "sparkConf": _spark_conf(cluster, given),
        "restartPolicy": {"type": "Never"},
        "driver": part
        | {
            "serviceAccount": _account(cluster, given),
            "labels": _pod_labels(cluster),
            "template": _template(cluster, given, "driver"),
        },
        "executor": part
        | {
            "instances": max(1, given.executors),
            "template": _template(cluster, given, "executor"),
        },
    }
    if cluster.spec.image_pull_secrets:
        application["imagePullSecrets"] = [one.name for one in cluster.spec.image_pull_secrets]
    spec = {
        "schedule": given.schedule,
        "suspend": given.suspend,
        "concurrencyPolicy": "Forbid",
        "successfulRunHistoryLimit": given.keep_runs,
        "failedRunHistoryLimit": given.keep_runs,
        "template": application,
    }
    return owner.make(
        f"{KUBEFLOW_API}/v1beta2",
        "ScheduledSparkApplication",
        names.report(cluster.name),
        spec=spec,
    )


def _pod_labels(cluster: NameServerCluster) -> dict[str, str]:
    """What network policies know the job's pods by. They are Spark's, not the operator's."""
    part_of = {"app.kubernetes.io/part-of": "signpost"}
    return names.selector(cluster.name, names.REPORT) | part_of


def _template(cluster: NameServerCluster, given: Report, part: str) -> Manifest:
    """The pod template that Spark lays its own pods over: confined, with history and token."""
    mounts: list[Manifest] = [{"name": "tmp", "mountPath": "/tmp"}]  # noqa: S108 - its own
    volumes: list[Manifest] = [{"name": "tmp", "emptyDir": {}}]
    if not given.history.path:
        claim = {"claimName": names.report(cluster.name)}
        mounts.append({"name": "history", "mountPath": HISTORY_FOLDER})
        volumes.append({"name": "history", "persistentVolumeClaim": claim})
    if token := cluster.spec.access.http_token_secret:
        items = [{"key": token.key, "path": TOKEN_FILE}]
        mounts.append({"name": "http-tokens", "mountPath": TOKEN_FOLDER, "readOnly": True})
        volumes.append(
            {"name": "http-tokens", "secret": {"secretName": token.name, "items": items}}
        )
    # Spark writes below its work folder: its root file system cannot be read-only.
    confined = {k: v for k, v in pods.CONFINED.items() if k != "readOnlyRootFilesystem"}
    container: dict[str, Any] = {
        "name": f"spark-kubernetes-{part}",
        "securityContext": confined,
        "volumeMounts": mounts,
    }
    selector = names.selector(cluster.name, names.REPORT)
    return {
        "metadata": {"labels": _pod_labels(cluster)},
        "spec": {
            "securityContext": pods.pod_security(USER),
            "containers": [container],
            "volumes": volumes,
            **{
                key: value
                for key, value in pods.placement(cluster.spec.placement, selector).items()
                if key in ("nodeSelector", "tolerations")
            },
        },
    }
