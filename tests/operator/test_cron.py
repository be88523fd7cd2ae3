from datetime import UTC, datetime

import pytest

from signpost_operator.desired import CronError, parse_schedule

START = datetime(2026, 1, 31, 23, 50, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("* * * * *", "2026-01-31 23:51"),
        ("*/15 * * * *", "2026-02-01 00:00"),
        ("5,55 * * * *", "2026-01-31 23:55"),
        ("30 4 * * *", "2026-02-01 04:30"),
        ("0 0 29 2 *", "2028-02-29 00:00"),
        ("0 0 * * 1", "2026-02-02 00:00"),
        ("0 0 * * 7", "2026-02-01 00:00"),
        ("0 0 * * 0", "2026-02-01 00:00"),
        ("0 0 13 * 5", "2026-02-06 00:00"),
        ("0 9-17/4 * * *", "2026-02-01 09:00"),
        ("0 3/6 * * *", "2026-02-01 03:00"),
        ("10 10 10 10 *", "2026-10-10 10:10"),
    ],
)
def test_when_it_is_due(schedule: str, expected: str) -> None:
    found = parse_schedule(schedule).after(START)
    assert found is not None
    assert found.strftime("%Y-%m-%d %H:%M") == expected


def test_a_day_that_never_comes() -> None:
    assert parse_schedule("0 0 30 2 *").after(START) is None


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ("* * * *", "4 fields"),
        ("60 * * * *", "'60' is not within 0 to 59"),
        ("* * 0 * *", "within 1 to 31"),
        ("a * * * *", "'a' is no number"),
        ("5-1 * * * *", "'5-1'"),
        ("*/0 * * * *", "'*/0'"),
        ("@daily", "1 fields"),
    ],
)
def test_a_bad_schedule(schedule: str, words: str) -> None:
    with pytest.raises(CronError) as caught:
        parse_schedule(schedule)
    assert words in str(caught.value)
