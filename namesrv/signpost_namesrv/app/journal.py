"""One log line for every broker that comes, changes or goes; topics only at debug."""

from signpost_namesrv import logs
from signpost_namesrv.routes.changes import Change, ChangeLog, GroupChanged, QueuesChanged

log = logs.get("routes")


def log_changes(changes: ChangeLog) -> None:
    """Write down what happens to the tables."""
    changes.subscribe(_log_change)


def _log_change(change: Change) -> None:
    if isinstance(change, QueuesChanged):
        log.debug(
            "queues changed",
            revision=change.revision,
            topic=change.topic,
            broker=change.broker,
            queues=change.queues,
        )
    elif isinstance(change, GroupChanged):
        group = change.group
        if group is None:
            log.info("broker group gone", revision=change.revision, broker=change.broker)
        else:
            log.info(
                "broker group changed",
                revision=change.revision,
                cluster=group.cluster,
                broker=change.broker,
                addresses=group.addresses,
            )
