"""Short ways to say what brokers say."""

from collections.abc import Generator, Mapping
from typing import Any, TypeVar

from signpost_namesrv.routes import registration, removal
from signpost_namesrv.routes.model import DataVersion, MinIdChange, Policy, Registration
from signpost_namesrv.routes.registration import Registered
from signpost_namesrv.routes.tables import Tables
from signpost_namesrv.wire.registration import TopicConfig

T = TypeVar("T")
TWO = {"T": 6, "U": 6}


def run(work: Generator[None, None, T]) -> T:
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: T = end.value
            return result


def broker(
    name: str = "a",
    broker_id: int = 0,
    address: str = "a:1",
    topics: Mapping[str, int] = TWO,
    *,
    counter: int = 1,
    state: int = 0,
    **more: Any,
) -> Registration:
    """Topics are given by their permission."""
    return Registration(
        cluster=more.pop("cluster", "C"),
        name=name,
        broker_id=broker_id,
        address=address,
        data_version=DataVersion(state, 1, counter),
        topics=[(t, TopicConfig(t, 4, 4, perm)) for t, perm in topics.items()],
        **more,
    )


class Server:
    """Tables with a policy and a clock that stands still until told."""

    def __init__(self, **policy: bool) -> None:
        self.tables = Tables()
        self.policy = Policy(**policy)
        self.now = 0

    def register(self, reg: Registration) -> Registered:
        return run(registration.register(self.tables, self.policy, reg, self.now))

    def remove(self, *leaving: removal.Departure) -> list[MinIdChange]:
        return run(removal.remove(self.tables, self.policy, leaving, self.now))

    def close(self, connection: str) -> list[MinIdChange]:
        return self.remove(*removal.departures_of(self.tables, connection))

    def scan(self) -> list[str]:
        silent = removal.expired(self.tables, self.now)
        self.remove(*map(removal.departure_of, silent))
        return sorted(live.key.address for live in silent)

    def perms(self, name: str = "a") -> dict[str, int]:
        """A broker's topics by their permission."""
        found = {t: self.tables.queues(t, name) for t in self.tables.topics}
        return {t: queues.perm for t, queues in found.items() if queues}

    def addresses(self, name: str = "a") -> dict[int, str]:
        group = self.tables.groups.get(name)
        return {} if group is None else dict(group.addresses)
