"""The settings of the sidecar, group by group."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, StringConstraints

from signpost_namesrv.settings.kinds import (
    Count,
    File,
    Flag,
    Group,
    Key,
    MaybeFile,
    Names,
    Port,
    Positive,
    Whole,
)

_Host = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[^\s/]+$")]
_Word = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^\S*$")]


class Listening(Group):
    """Where the broker finds its name server."""

    bind_address: Annotated[
        _Host,
        Key("Address of the remoting port: brokers are not told apart, so keep it on loopback."),
    ] = "127.0.0.1"
    listen_port: Annotated[Port, Key("The broker's namesrvAddr; 0: any free port.")] = 9876
    max_frame_bytes: Annotated[
        Whole,
        Field(ge=1024, le=2**30),
        Key("Longest frame of a broker; a plain table of 100,000 topics is 20 MB.", "bytes"),
    ] = 67_108_864
    max_connections: Annotated[
        Positive, Key("Further connections are closed at once.", "connections")
    ] = 256
    http_bind_address: Annotated[
        _Host, Key("Address of the HTTP port; probes come from outside the pod.")
    ] = "0.0.0.0"  # noqa: S104 - the kubelet must reach it
    http_port: Annotated[
        Whole, Field(ge=-1, le=65535), Key("Health, metrics, status; 0: any free one, -1: off.")
    ] = 8081


class Discovery(Group):
    """Where name servers are found; several sources together make one list."""

    namesrv_addr: Annotated[
        Names, Key("A fixed list.", expects="addresses: host:port;host:port")
    ] = ()
    namesrv_dns: Annotated[
        _Word,
        Key(
            "A name whose addresses are all name servers: a headless Service.",
            expects="a host name, with or without :port",
        ),
    ] = ""
    dns_longest_seconds: Annotated[
        Positive, Key("A name is looked up again after its TTL, at the latest after this.", "s")
    ] = 5
    namesrv_service: Annotated[
        _Word,
        Key(
            "A Service whose EndpointSlices are watched; needs list and watch of endpointslices.",
            expects="name, namespace/name or namespace/name:port",
        ),
    ] = ""
    kubernetes_api: Annotated[
        _Word, Key("The API server; empty: the pod's own.", expects="a URL")
    ] = ""
    service_account_dir: Annotated[
        File, Key("Token, certificate authority and namespace of the pod.", expects="a path")
    ] = Path("/var/run/secrets/kubernetes.io/serviceaccount")
    namesrv_address_server: Annotated[
        _Word,
        Key("An address server.", expects="a URL such as http://host:8080/rocketmq/nsaddr"),
    ] = ""
    address_server_seconds: Annotated[Positive, Key("How often it is asked.", "s")] = 10
    namesrv_file: Annotated[
        MaybeFile, Key("A file with a list, read every second.", expects="a path")
    ] = None
    linger_seconds: Annotated[
        Count,
        Key("A name server that is no longer listed, but works, is kept for so long.", "s"),
    ] = 120


class Carrying(Group):
    """How brokers' words reach name servers."""

    answer_wait_millis: Annotated[
        Positive,
        Key("When one name server accepted, the broker waits no longer for the others.", "ms"),
    ] = 1000
    request_timeout_millis: Annotated[
        Positive, Key("A name server silent for so long loses its connection.", "ms")
    ] = 3000
    register_timeout_millis: Annotated[
        Positive, Key("The same for a full registration, which may be long.", "ms")
    ] = 12_000
    reconnect_first_millis: Annotated[
        Positive, Key("Pause before the second try to connect; it doubles.", "ms")
    ] = 50
    reconnect_longest_millis: Annotated[
        Positive,
        Key(
            "Longest pause: a name server that returns is told within it. Fleets of thousands "
            "want seconds.",
            "ms",
        ),
    ] = 800
    full_again_seconds: Annotated[
        Positive,
        Key(
            "A name server is sent all topics after so long though nothing changed: drift ends.",
            "s",
        ),
    ] = 600
    memory_file: Annotated[
        MaybeFile,
        Key(
            "Registrations outlast a restart of the sidecar here: put it on an emptyDir.",
            expects="a path",
        ),
    ] = None
    broker_probe: Annotated[
        _Word,
        Key(
            "Where a broker that hung up is looked for; empty: at the address it registered.",
            expects="host:port",
        ),
    ] = ""


class Declared(Group):
    """Brokers that cannot register themselves."""

    declared_file: Annotated[
        MaybeFile, Key("A YAML file that describes them.", expects="a path")
    ] = None
    beat_seconds: Annotated[
        Whole, Field(ge=10, le=60), Key("How often they are registered again.", "s")
    ] = 30


class Draining(Group):
    """How a broker leaves."""

    drain_wait_seconds: Annotated[
        Whole,
        Field(ge=0, le=600),
        Key(
            "From read-only to unregistered: producers ask for routes every 30 s. The pod's "
            "grace period must be longer.",
            "s",
        ),
    ] = 35


class ClientTls(Group):
    """TLS to the name servers. The keys are those of stock clients."""

    enable: Annotated[Flag, Key("Speak TLS.", name="tls.enable")] = False
    auth_server: Annotated[
        Flag,
        Key("Verify the name servers' certificates.", name="tls.client.authServer"),
    ] = True
    trust_cert_path: Annotated[
        MaybeFile,
        Key(
            "Authorities that sign them, PEM; empty: the system's.",
            name="tls.client.trustCertPath",
            expects="a path",
        ),
    ] = None
    server_name: Annotated[
        _Word,
        Key(
            "Name that their certificates carry; empty: any, for pods are found by address.",
            name="tls.client.serverName",
            expects="a host name",
        ),
    ] = ""
    cert_path: Annotated[
        MaybeFile,
        Key("Our own certificate, PEM.", name="tls.client.certPath", expects="a path"),
    ] = None
    key_path: Annotated[
        MaybeFile, Key("Its private key, PEM.", name="tls.client.keyPath", expects="a path")
    ] = None
    key_password: Annotated[
        SecretStr, Key("Password of the key; never shown.", name="tls.client.keyPassword")
    ] = SecretStr("")
