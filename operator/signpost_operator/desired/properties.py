"""namesrv.properties of a NameServerCluster."""

from collections.abc import Mapping

from signpost_operator import names
from signpost_operator.resources.nameserver import NameServerCluster

CONFIG_FOLDER = "/etc/signpost/config"
CONFIG_FILE = "namesrv.properties"
DATA_FOLDER = "/var/lib/signpost"
KV_FILE = "kvConfig.json"
TLS_FOLDER = "/etc/signpost/tls"
TOKEN_FOLDER = "/etc/signpost/http"  # noqa: S105 - where it is mounted
TOKEN_FILE = "tokens"  # noqa: S105

REMOTING_PORT = 9876
HTTP_PORT = 8080
SHUTDOWN_SECONDS = 20


def properties(cluster: NameServerCluster) -> str:
    """The file: what the user set, and over it what follows from the other fields."""
    settings = {"logFormat": "json", **cluster.spec.config, **_made(cluster)}
    return "".join(f"{key}={_value(value)}\n" for key, value in sorted(settings.items()))


def _made(cluster: NameServerCluster) -> Mapping[str, bool | int | str]:
    spec, access = cluster.spec, cluster.spec.access
    peers = names.service_dns(names.namesrv_headless(cluster.name), cluster.namespace)
    made: dict[str, bool | int | str] = {
        "listenPort": REMOTING_PORT,
        "httpPort": HTTP_PORT,
        "needWaitForService": True,
        "waitSecondsForService": spec.warmup.wait_seconds,
        "kvConfigPath": f"{DATA_FOLDER}/{KV_FILE}",
        "peerService": f"{peers}:{HTTP_PORT}",
        "shutdownWaitTimeSeconds": SHUTDOWN_SECONDS,
        "tls.server.mode": "disabled",
    }
    if access.admin_addresses:
        made["adminAddresses"] = ",".join(access.admin_addresses)
    if access.admin_cert_names:
        made["adminCertNames"] = ",".join(access.admin_cert_names)
    if access.http_token_secret:
        made["httpTokenFile"] = f"{TOKEN_FOLDER}/{TOKEN_FILE}"
        made["httpReadsNeedToken"] = access.http_reads_need_token
    if spec.tls:
        made |= {
            "tls.server.mode": spec.tls.mode.lower(),
            "tls.server.need.client.auth": spec.tls.client_auth.lower(),
            "tls.server.certPath": f"{TLS_FOLDER}/tls.crt",
            "tls.server.keyPath": f"{TLS_FOLDER}/tls.key",
        }
        if spec.tls.client_auth != "None":
            made["tls.server.trustCertPath"] = f"{TLS_FOLDER}/ca.crt"
    return made


def _value(value: bool | int | str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    # As Java reads it: a backslash escapes, and a line ends a value.
    return str(value).replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
