"""From a resource to the Kubernetes objects that carry it out. Pure: no cluster, no clock.

name_servers(cluster, context, brokers)    objects of a NameServerCluster
brokers(broker, cluster, context, hosts)   objects of a Broker
report(cluster, context)                   objects of the cluster's route health job
report_run(cluster, context, at)           one run of it, for Apache's Spark operator
kv_map(cluster, text)                      the copy of its KV configuration
"""

from .broker import brokers, refusal
from .context import Context, Manifest
from .cron import CronError, Schedule
from .cron import parse as parse_schedule
from .nameserver import kv_file, kv_map, name_servers
from .report import missing_api, report, report_run

__all__ = [
    "Context",
    "CronError",
    "Manifest",
    "Schedule",
    "brokers",
    "kv_file",
    "kv_map",
    "missing_api",
    "name_servers",
    "parse_schedule",
    "refusal",
    "report",
    "report_run",
]
