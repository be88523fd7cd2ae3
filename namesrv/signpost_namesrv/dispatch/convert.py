"""Values of the tables as bodies of the wire, and back."""

from collections.abc import Mapping

from signpost_namesrv.routes.lookup import Route
from signpost_namesrv.routes.model import DataVersion, Group, Queues, StaticMapping
from signpost_namesrv.wire import bodies

_MAX_KEPT = 4096


class RouteBodies:
    """Bodies of answered look-ups, from parts made before: topics are many, brokers are few."""

    def __init__(self) -> None:
        self._groups: dict[str, tuple[Group, bodies.BrokerData]] = {}
        self._queues: dict[Queues, bodies.QueueData] = {}

    def route(self, route: Route, order_conf: str | None = None) -> bodies.TopicRouteData:
        """The body of a route."""
        filters = bodies.by_key(route.filter_servers)
        return bodies.TopicRouteData(
            broker_datas=[self._group(group) for group in route.groups],
            filter_server_table={a: list(servers) for a, servers in filters.items()},
            order_topic_conf=bodies.present(order_conf),
            queue_datas=[self._queues_of(queues) for queues in route.queues],
            topic_queue_mapping_by_broker=bodies.present(_mappings(route.mappings)),
        )

    def _group(self, group: Group) -> bodies.BrokerData:
        kept = self._groups.get(group.name)
        if kept is not None and kept[0] is group:
            return kept[1]
        if len(self._groups) >= _MAX_KEPT:
            self._groups.clear()
        body = group_body(group)
        self._groups[group.name] = (group, body)
        return body

    def _queues_of(self, queues: Queues) -> bodies.QueueData:
        body = self._queues.get(queues)
        if body is None:
            if len(self._queues) >= _MAX_KEPT:
                self._queues.clear()
            body = self._queues[queues] = queues_body(queues)
        return body


def group_body(group: Group) -> bodies.BrokerData:
    """A broker group."""
    return bodies.BrokerData(
        broker_addrs=bodies.by_key(group.addresses),
        broker_name=group.name,
        cluster=group.cluster,
        enable_acting_master=group.acting_master,
        zone_name=bodies.present(group.zone),
    )


def queues_body(queues: Queues) -> bodies.QueueData:
    """A topic's queues on one broker."""
    return bodies.QueueData(queues.broker, queues.perm, queues.read, queues.sys_flag, queues.write)


def queues_from(body: bodies.QueueData) -> Queues:
    """The same, as the tables keep it."""
    return Queues(
        body.broker_name,
        body.read_queue_nums,
        body.write_queue_nums,
        body.perm,
        body.topic_sys_flag,
    )


def version_body(version: DataVersion) -> bodies.DataVersion:
    """A data version."""
    return bodies.DataVersion(version.counter, version.state_version, version.timestamp)


def version_from(body: bodies.DataVersion) -> DataVersion:
    """The same, as the tables keep it."""
    return DataVersion(body.state_version, body.timestamp, body.counter)


def mapping_from(topic: str, body: bodies.MappingInfo) -> StaticMapping:
    """A static topic's mapping, as the tables keep it."""
    return StaticMapping(
        topic=topic,
        broker=body.bname,
        total_queues=body.total_queues,
        epoch=body.epoch,
        scope=body.scope,
        dirty=body.dirty,
        queue_ids=body.curr_id_map,
    )


def _mappings(
    mappings: Mapping[str, StaticMapping] | None,
) -> dict[str, bodies.MappingInfo] | None:
    if mappings is None:
        return None
    return {
        broker: bodies.MappingInfo(
            bname=m.broker,
            curr_id_map=bodies.by_key(m.queue_ids),
            dirty=m.dirty,
            epoch=m.epoch,
            scope=m.scope,
            topic=m.topic,
            total_queues=m.total_queues,
        )
        for broker, m in sorted(mappings.items())
    }
