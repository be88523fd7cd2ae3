"""What was observed of a resource, as far as its status tells of it. Values only.

`observe` and the handlers fill these in; `status` turns them into conditions.
"""

from dataclasses import dataclass
from typing import Literal

Agreement = Literal["same", "settling", "differ", "unknown"]


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was just done to an object."""

    action: Literal["created", "updated", "repaired", "recreated", "pruned"]
    kind: str
    name: str
    detail: str = ""
    """What somebody else had changed, for a repair."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something could not be done: one word for programs, a sentence for people."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Workload:
    """A Deployment or StatefulSet as its controller tells it."""

    wanted: int
    replicas: int = 0
    ready: int = 0
    updated: int = 0
    current: bool = True
    """Whether its controller has seen the latest version of it."""
    stuck: str = ""
    """Why its roll-out does not get on; empty: it does."""

    @property
    def settled(self) -> bool:
        """Whether everything is as it should be."""
        return self.current and self.wanted == self.replicas == self.ready == self.updated


@dataclass(frozen=True, slots=True)
class NameServer:
    """A name server's pod, and what it said."""

    pod: str
    ip: str = ""
    ready: bool = False
    version: str = ""
    digest: str | None = None
    brokers: int | None = None
    topics: int | None = None
    trouble: str = ""
    """Why its containers do not run."""
    silence: str = ""
    """Why it could not be asked."""


@dataclass(frozen=True, slots=True)
class Report:
    """The last route health report."""

    verdict: Literal["Healthy", "Degraded", "Critical"]
    summary: str
    generated_at: str


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """Of a NameServerCluster."""

    workload: Workload | None = None
    name_servers: tuple[NameServer, ...] = ()
    agreement: Agreement = "unknown"
    differing_topics: tuple[str, ...] = ()
    differing_brokers: tuple[str, ...] = ()
    report: Report | None = None
    external: str = ""
    """Where clients outside the cluster find it; empty: nowhere, or not yet."""
    paused: bool = False
    failure: Failure | None = None
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """One group of brokers."""

    name: str
    workload: Workload | None = None
    leaving: bool = False
    """No longer wanted: draining."""
    writable: bool | None = None
    known_to: int | None = None
    """How many name servers know it."""
    addresses: tuple[str, ...] = ()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class BrokerFacts:
    """Of a Broker."""

    groups: tuple[Group, ...] = ()
    name_servers: int | None = None
    """How many name servers answered; None: not known."""
    waiting_for_addresses: tuple[str, ...] = ()
    """Pods whose load balancer has no address yet."""
    held_back: str = ""
    """Why groups that are no longer wanted are kept all the same."""
    paused: bool = False
    failure: Failure | None = None
    changes: tuple[Change, ...] = ()
