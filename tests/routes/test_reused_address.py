"""A pod's address may come back as another broker's."""

from collections.abc import Generator
from typing import TypeVar

from signpost_namesrv.routes import registration, removal
from signpost_namesrv.routes.model import BrokerKey, Policy, Registration
from signpost_namesrv.routes.tables import Tables

T = TypeVar("T")


def finish(job: Generator[None, None, T]) -> T:
    while True:
        try:
            next(job)
        except StopIteration as end:
            result: T = end.value
            return result


def register(tables: Tables, name: str, address: str) -> None:
    reg = Registration(cluster="C", name=name, broker_id=0, address=address)
    assert finish(registration.register(tables, Policy(), reg, 1)).accepted


def test_the_broker_that_had_the_address_before_is_gone() -> None:
    tables = Tables()
    register(tables, "old", "10.0.0.1:10911")
    register(tables, "new", "10.0.0.1:10911")
    assert set(tables.groups) == {"new"}
    assert tables.clusters == {"C": frozenset({"new"})}
    assert tables.live[BrokerKey("C", "10.0.0.1:10911")].name == "new"


def test_a_departure_under_the_wrong_name_leaves_the_owner_alone() -> None:
    tables = Tables()
    register(tables, "owner", "10.0.0.1:10911")
    leaving = removal.Departure("C", "other", 0, "10.0.0.1:10911")
    finish(removal.remove(tables, Policy(), [leaving], 2))
    assert set(tables.groups) == {"owner"}
    assert BrokerKey("C", "10.0.0.1:10911") in tables.live
