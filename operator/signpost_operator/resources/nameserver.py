"""NameServerCluster: name servers that serve one set of routes."""

from typing import Annotated, Literal

from pydantic import Field

from .common import Pods, Resources, Status
from .model import Labels, Model, Name, ObjectName, Port, Quantity, Rule, Text
from .reporting import Report
from .settings import Config


class Warmup(Model):
    """When a fresh name server starts to give out routes, and so becomes ready."""

    wait_seconds: int = Field(
        default=45,
        ge=0,
        le=600,
        description="Ready after so long at the latest. Less than a broker's beat of 30 s is only "
        "safe when every broker has a sidecar.",
    )
    expected_brokers: tuple[Annotated[str, Field(min_length=1, max_length=255)], ...] = Field(
        default=(),
        max_length=1000,
        description="Brokers without a Broker resource that it waits for besides: a name, or "
        "cluster/name. Ready as soon as all have registered.",
    )


class Tls(Model):
    """TLS on the remoting port. A renewed certificate is taken over without a restart."""

    secret_name: ObjectName = Field(
        description="Secret with tls.crt and tls.key, and ca.crt for clients' certificates."
    )
    mode: Literal["Permissive", "Enforcing"] = Field(
        default="Permissive",
        description="Permissive takes TLS and plain connections on one port; Enforcing only TLS.",
    )
    client_auth: Literal["None", "Optional", "Require"] = Field(
        default="None",
        description="Whether clients show a certificate. One that is shown is always verified "
        "against the Secret's ca.crt.",
    )


class Kv(Model):
    """The KV configuration, which admin tools write (order topics and the like)."""

    persistence: Literal["ConfigMap", "None"] = Field(
        default="ConfigMap",
        description="ConfigMap: the operator keeps a copy of what all name servers agree on, and "
        "new pods start from it. None: kept only as long as the pods live.",
    )
    size_limit: Quantity = Field(
        default="64Mi", description="Room on the node's disk for the file of each pod."
    )
    on_delete: Literal["Retain", "Delete"] = Field(
        default="Retain",
        description="What happens to that ConfigMap when the NameServerCluster is deleted.",
    )


class Exposure(Model):
    """The Service that clients use. It leads only to name servers that are ready."""

    type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = Field(
        default="ClusterIP", description="Who can reach it: pods, or clients outside too."
    )
    port: Port = Field(default=9876, description="Its port for the remoting protocol.")
    http: bool = Field(default=True, description="Whether it has the HTTP port as well.")
    http_port: Port = Field(default=8080, description="Its port for HTTP.")
    node_port: Annotated[int, Field(ge=0, le=65535)] = Field(
        default=0, description="The nodes' port for the remoting protocol; 0: any free one."
    )
    annotations: Labels = Field(
        default={}, description="For the load balancer's controller, or a DNS controller."
    )
    load_balancer_class: Text | None = Field(
        default=None, description="Which controller makes the load balancer."
    )
    load_balancer_source_ranges: tuple[Text, ...] = Field(
        default=(), max_length=64, description="Addresses that may use the load balancer."
    )
    external_traffic_policy: Literal["Cluster", "Local"] = Field(
        default="Cluster",
        description="Local keeps the clients' addresses, and needs a name server on the node.",
    )

    rules = (
        Rule(
            "self.nodePort == 0 || self.type != 'ClusterIP'",
            "nodePort needs type NodePort or LoadBalancer",
            lambda m: m.node_port == 0 or m.type != "ClusterIP",
            "nodePort",
        ),
        Rule(
            "!has(self.loadBalancerClass) || self.type == 'LoadBalancer'",
            "loadBalancerClass needs type LoadBalancer",
            lambda m: m.load_balancer_class is None or m.type == "LoadBalancer",
            "loadBalancerClass",
        ),
        Rule(
            "size(self.loadBalancerSourceRanges) == 0 || self.type == 'LoadBalancer'",
            "loadBalancerSourceRanges needs type LoadBalancer; for others see networkPolicy",
            lambda m: not m.load_balancer_source_ranges or m.type == "LoadBalancer",
            "loadBalancerSourceRanges",
        ),
        Rule(
            "!self.http || self.port != self.httpPort",
            "port and httpPort are the same: give each its own",
            lambda m: not m.http or m.port != m.http_port,
            "httpPort",
        ),
    )


class SecretKey(Model):
    """One entry of a Secret."""

    name: ObjectName = Field(description="Name of the Secret, in this namespace.")
    key: Annotated[str, Field(pattern=r"^[-._a-zA-Z0-9]+$", max_length=253)] = Field(
        default="token", description="The entry."
    )


class Access(Model):
    """Who may do what."""

    admin_addresses: tuple[Text, ...] = Field(
        default=(),
        max_length=256,
        description="Addresses or networks that may write KV, delete topics and wipe permissions "
        "over the remoting protocol; empty: all.",
    )
    admin_cert_names: tuple[Text, ...] = Field(
        default=(),
        max_length=256,
        description="Names in client certificates that may do so; empty: not asked.",
    )
    http_token_secret: SecretKey | None = Field(
        default=None,
        description="Bearer tokens for writing over HTTP, one a line; none: nobody may write.",
    )
    http_reads_need_token: bool = Field(
        default=False, description="Whether reading over HTTP needs the token as well."
    )
    broker_namespaces: tuple[Annotated[str, Field(pattern=r"^(\*|[a-z0-9-]{1,63})$")], ...] = Field(
        default=(),
        max_length=256,
        description="Other namespaces whose Broker resources may join; '*': every namespace.",
    )

    rules = (
        Rule(
            "!self.httpReadsNeedToken || has(self.httpTokenSecret)",
            "httpReadsNeedToken needs a token: set httpTokenSecret",
            lambda m: not m.http_reads_need_token or m.http_token_secret is not None,
            "httpReadsNeedToken",
        ),
    )


class NameServerClusterSpec(Pods):
    """What is wanted."""

    replicas: int = Field(
        default=3, ge=0, le=50, description="How many name servers. Each knows every route."
    )
    image: Text | None = Field(
        default=None, description="Image of the name server; none: the operator's own choice."
    )
    version: Annotated[str, Field(pattern=r"^[\w][\w.-]{0,127}$")] | None = Field(
        default=None,
        description="Tag of the image, when the image names none; none: the operator's version.",
    )
    resources: Resources = Field(
        default=Resources(requests={"cpu": "100m", "memory": "128Mi"}, limits={"memory": "512Mi"}),
        description="What each name server asks for, and what it may take.",
    )
    config: Config = Field(
        default={},
        description="Settings of the name server, as in namesrv.properties. What has a field of "
        "its own here is set there.",
    )
    warmup: Warmup = Field(
        default=Warmup(), description="When a fresh name server starts to give out routes."
    )
    tls: Tls | None = Field(default=None, description="TLS on the remoting port; none: plain only.")
    kv: Kv = Field(default=Kv(), description="The KV configuration, which admin tools write.")
    exposure: Exposure = Field(default=Exposure(), description="The Service that clients use.")
    access: Access = Field(default=Access(), description="Who may do what.")
    report: Report | None = Field(
        default=None, description="The route health report, made by Spark; none: not made."
    )

    rules = (
        Rule(
            "!has(self.version) || !has(self.image) || "
            "!self.image.matches('(@sha256:|:[A-Za-z0-9_][A-Za-z0-9_.-]*$)')",
            "image already names a tag or a digest: leave version out",
            lambda m: not (m.version and m.image and has_tag(m.image)),
            "version",
        ),
        Rule(
            "size(self.access.adminCertNames) == 0 || "
            "(has(self.tls) && self.tls.clientAuth != 'None')",
            "access.adminCertNames needs clients that show certificates: set tls.clientAuth",
            lambda m: (
                not m.access.admin_cert_names or (m.tls is not None and m.tls.client_auth != "None")
            ),
            "access.adminCertNames",
        ),
    )


def has_tag(image: str) -> bool:
    """Whether an image's name says which version it is."""
    return "@" in image or ":" in image.rpartition("/")[2]


class Endpoint(Model):
    """One name server as the operator last saw it."""

    name: str = Field(description="The pod.")
    address: str = Field(default="", description="Its address for the remoting protocol.")
    ready: bool = Field(default=False, description="Whether clients are sent there.")
    version: str | None = Field(default=None, description="What it runs.")
    digest: str | None = Field(
        default=None, description="Of its routes: equal when the routes are."
    )
    brokers: int | None = Field(default=None, description="Brokers that it knows.")
    topics: int | None = Field(default=None, description="Topics that it knows.")
    message: str | None = Field(default=None, description="Why it could not be asked.")


class Addresses(Model):
    """Where clients find the name servers."""

    internal: str | None = Field(default=None, description="For clients inside the cluster.")
    external: str | None = Field(default=None, description="For clients outside, where asked for.")
    http: str | None = Field(default=None, description="The HTTP side and its console.")
    address_server: str | None = Field(
        default=None, description="For clients that poll a list of name servers."
    )


class NameServerClusterStatus(Status):
    """What is true now."""

    replicas: int = Field(default=0, description="Name servers that exist.")
    ready_replicas: int = Field(default=0, description="Name servers that are ready.")
    updated_replicas: int = Field(default=0, description="Name servers as the spec says.")
    ready: str | None = Field(default=None, description="Ready of wanted, for one line.")
    selector: str | None = Field(default=None, description="Of the pods, for autoscalers.")
    version: str | None = Field(default=None, description="The version that all run.")
    brokers: int | None = Field(default=None, description="Brokers known.")
    topics: int | None = Field(default=None, description="Topics known.")
    addresses: Addresses | None = Field(
        default=None, description="Where clients find the name servers."
    )
    endpoints: tuple[Endpoint, ...] = Field(
        default=(), max_length=50, description="Each name server as the operator last saw it."
    )


class NameServerCluster(Model):
    """Name servers that serve one set of routes to RocketMQ brokers and clients."""

    name: Name
    namespace: Name
    spec: NameServerClusterSpec = NameServerClusterSpec()
    generation: int = 0
    uid: str = ""
    annotations: Labels = Field(default={})
