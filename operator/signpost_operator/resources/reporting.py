"""The route health report: what is asked for in a NameServerCluster, and what was found."""

from typing import Annotated, Literal

from pydantic import Field

from .common import Resources, Status
from .model import Labels, Model, Name, ObjectName, Quantity, Rule, Schema, Text

_CRON = r"^\S+ \S+ \S+ \S+ \S+$"


class History(Model):
    """Where rounds are kept, so that a report can say since when."""

    path: Text | None = Field(
        default=None,
        description="Any path that Spark knows, such as s3a://bucket/routes; none: a volume.",
    )
    size: Quantity = Field(default="5Gi", description="Size of the volume, when there is no path.")
    storage_class_name: ObjectName | None = Field(
        default=None, description="The volume's StorageClass; none: the cluster's default."
    )
    retention_days: int = Field(
        default=30, ge=1, le=3650, description="Older rounds are removed after so many days."
    )
    on_delete: Literal["Retain", "Delete"] = Field(
        default="Retain", description="What happens to the volume with the NameServerCluster."
    )


class Report(Model):
    """A Spark job that reads every name server and says whether clients find their brokers."""

    schedule: Annotated[str, Field(pattern=_CRON, max_length=100)] = Field(
        default="*/15 * * * *", description="When it runs: minute hour day month weekday, in UTC."
    )
    suspend: bool = Field(default=False, description="Stop running it for now.")
    operator: Literal["Kubeflow", "Apache"] = Field(
        default="Kubeflow",
        description="Which Spark operator the cluster has: Kubeflow's (sparkoperator.k8s.io) or "
        "Apache's (spark.apache.org).",
    )
    image: Text | None = Field(
        default=None, description="Image of the job; none: the operator's own choice."
    )
    spark_version: Annotated[str, Field(pattern=r"^4\.[0-9]+\.[0-9]+$")] = Field(
        default="4.3.0", description="The Spark inside the image."
    )
    service_account_name: ObjectName | None = Field(
        default=None, description="ServiceAccount of the driver; none: one is made."
    )
    executors: int = Field(
        default=0,
        ge=0,
        le=100,
        description="0: the driver does everything, which is right until history grows large.",
    )
    resources: Resources = Field(
        default=Resources(requests={"cpu": "1", "memory": "2Gi"}, limits={"memory": "2Gi"}),
        description="What the driver, and each executor, may take.",
    )
    history: History = Field(default=History(), description="Where rounds are kept.")
    thresholds: dict[str, Annotated[str, Field(max_length=256)]] = Field(
        default={}, description="When a finding counts, by the name of the threshold."
    )
    keep_runs: int = Field(
        default=3, ge=1, le=20, description="Finished SparkApplications that are kept, by outcome."
    )
    spark_conf: Labels = Field(default={}, description="Further Spark configuration.")


class Finding(Model):
    """One thing that is wrong, or was."""

    check: Text = Field(description="Which check found it.")
    severity: Literal["Critical", "Warning", "Info"] = Field(description="How bad it is.")
    subject: Annotated[str, Field(max_length=1024)] = Field(description="Topic, broker or server.")
    evidence: Annotated[str, Field(max_length=2048)] = Field(
        default="", description="What was seen, in a sentence."
    )
    state: Literal["New", "Ongoing", "Resolved"] = Field(
        default="New", description="Against the report before."
    )
    since: Annotated[str, Schema({"format": "date-time"})] | None = Field(
        default=None, description="Since when."
    )


class Counts(Model):
    """How much was looked at, and how many findings there are."""

    name_servers: int = Field(default=0, ge=0, description="Name servers that were asked.")
    unreachable: int = Field(default=0, ge=0, description="Of them, those that did not answer.")
    brokers: int = Field(default=0, ge=0, description="Brokers.")
    topics: int = Field(default=0, ge=0, description="Topics.")
    critical: int = Field(default=0, ge=0, description="Critical findings.")
    warning: int = Field(default=0, ge=0, description="Warnings.")
    info: int = Field(default=0, ge=0, description="Remarks.")
    new: int = Field(default=0, ge=0, description="Findings that the last report did not have.")
    resolved: int = Field(default=0, ge=0, description="Findings that are gone since.")


class RouteHealthReportSpec(Model):
    """What the job found. Written by the job, as one record."""

    cluster: Name = Field(description="The NameServerCluster that it is about.")
    verdict: Literal["Healthy", "Degraded", "Critical"] = Field(
        description="Critical: some client cannot find its broker. Degraded: one will, if it is "
        "left so."
    )
    generated_at: Annotated[str, Schema({"format": "date-time"})] = Field(
        description="When the last round was read."
    )
    window: Annotated[str, Field(max_length=64)] = Field(
        default="", description="The time that it looks back on, such as 24h."
    )
    summary: Annotated[str, Field(max_length=1024)] = Field(
        default="", description="The verdict in a sentence."
    )
    counts: Counts = Field(default=Counts(), description="How much there is of everything.")
    findings: tuple[Finding, ...] = Field(
        default=(), max_length=50, description="The worst ones; all are in the full report."
    )
    location: Annotated[str, Field(max_length=1024)] = Field(
        default="", description="Where the full report is."
    )

    rules = (
        Rule(
            "self.cluster == oldSelf.cluster",
            "cluster cannot change: make another RouteHealthReport",
            None,
            "cluster",
        ),
    )


class RouteHealthReportStatus(Status):
    """Nothing yet: the record stands in the spec."""


class RouteHealthReport(Model):
    """What the route health job found, owned by its NameServerCluster."""

    name: ObjectName
    namespace: Name
    spec: RouteHealthReportSpec
