"""From a resource to the Kubernetes objects that carry it out. Pure: no cluster, no clock.

name_servers(cluster, context, brokers)    objects of a NameServerCluster
brokers(broker, cluster, context, hosts)   objects of a Broker
report(cluster, context)                   objects of the cluster's route health job
"""

from .broker import brokers, refusal
from .context import Context, Manifest
from .nameserver import kv_file, kv_map, name_servers

__all__ = [
    "Context",
    "Manifest",
    "brokers",
    "kv_file",
    "kv_map",
    "name_servers",
    "refusal",
]
