import re

import pytest

from signpost_operator import names

LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
LONGEST = "n" * 40


@pytest.mark.parametrize("name", ["a", "routes", LONGEST, "a" * 253, "with.dots-and-" + "x" * 60])
def test_a_fitted_name_is_short_and_ends_well(name: str) -> None:
    fitted = names.fit(name)
    assert len(fitted) <= 52
    assert fitted[-1].isalnum()


def test_a_name_that_fits_stays_and_others_stay_apart() -> None:
    assert names.fit("x" * 52) == "x" * 52
    assert names.fit("x" * 53) != names.fit("x" * 54)
    assert names.fit("x" * 53) == names.fit("x" * 53)


@pytest.mark.parametrize(
    "name",
    [
        names.namesrv(LONGEST),
        names.namesrv_headless(LONGEST),
        names.namesrv_kv(LONGEST),
        names.brokers(LONGEST),
        names.group(LONGEST, 99),
        names.pod(LONGEST, 99, 9),
        names.report(LONGEST),
    ],
)
def test_names_of_services_and_pods_of_the_longest_resource(name: str) -> None:
    assert LABEL.fullmatch(name)
    assert len(name) <= 63


def test_pods_of_a_stateful_set_leave_room_for_its_revision_label() -> None:
    assert len(names.group(LONGEST, 99)) <= 52


def test_a_cluster_and_a_broker_of_one_name_do_not_meet() -> None:
    made = {names.namesrv("a"), names.namesrv_headless("a"), names.namesrv_kv("a")}
    made |= {names.brokers("a"), names.group("a", 0), names.pod("a", 0, 0), names.report("a")}
    assert len(made) == 7
    assert names.selector("a", names.NAMESRV) != names.selector("a", names.BROKER)


def test_selectors_are_among_the_labels() -> None:
    labels = names.labels("Broker", "a", names.BROKER)
    assert names.selector("a", names.BROKER).items() <= labels.items()
    assert names.owned_by("Broker", "a") == "signpost.dev/owner-kind=Broker,signpost.dev/owner=a"
    assert names.selector_text({"b": "2", "a": "1"}) == "a=1,b=2"
