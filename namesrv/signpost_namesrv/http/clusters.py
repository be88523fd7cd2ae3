"""`/v1/clusters`."""

from aiohttp import web
from pydantic import Field

from signpost_namesrv.routes.model import Group

from .endpoint import Answer, Call, Endpoint, reply
from .models import Model, Nothing


class Cluster(Model):
    """One cluster."""

    name: str
    groups: list[str] = Field(description="Names of its broker groups.")
    brokers: int = Field(description="Brokers in them, masters and slaves.")
    without_master: list[str] = Field(description="Groups that have no master now.")
    zones: list[str]


class Clusters(Model):
    """All clusters, in the order of their names."""

    revision: int
    clusters: list[Cluster]


async def _clusters(call: Call[Nothing, Nothing]) -> web.StreamResponse:
    tables = call.context.state.tables
    found = []
    for name, members in sorted(tables.clusters.items()):
        groups = [tables.groups[member] for member in sorted(members) if member in tables.groups]
        found.append(_cluster(name, groups))
    return reply(Clusters(revision=tables.revision, clusters=found))


def _cluster(name: str, groups: list[Group]) -> Cluster:
    return Cluster(
        name=name,
        groups=[group.name for group in groups],
        brokers=sum(len(group.addresses) for group in groups),
        without_master=[group.name for group in groups if not group.has_master],
        zones=sorted({group.zone for group in groups if group.zone}),
    )


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/v1/clusters",
        summary="The clusters and their broker groups",
        handle=_clusters,
        params=Nothing,
        body=Nothing,
        answers={200: Answer("All clusters.", Clusters)},
    ),
)
