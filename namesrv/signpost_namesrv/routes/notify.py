"""Who is to be told that a group's smallest brokerId changed."""

from .model import Group, MinIdChange


def min_id_change(
    group: Group,
    *,
    offline_address: str | None = None,
    ha_address: str | None = None,
) -> list[MinIdChange]:
    """The message for the group's brokers, if there are any.

    When a broker left, or is alone, all are told; when one joined, all but the one that joined.
    """
    min_id = group.min_id
    if min_id is None:
        return []
    alone = len(group.addresses) == 1
    told = [
        address
        for broker_id, address in sorted(group.addresses.items())
        if offline_address is not None or alone or broker_id != min_id
    ]
    change = MinIdChange(
        targets=told,
        broker=group.name,
        min_id=min_id,
        min_address=group.addresses[min_id],
        offline_address=offline_address,
        ha_address=ha_address,
    )
    return [change]
