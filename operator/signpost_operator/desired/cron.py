"""Schedules such as `*/15 * * * *`, in UTC: for Spark operators that have none. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta

_FIELDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_LONGEST = timedelta(days=366 * 5)


class CronError(ValueError):
    """A schedule cannot be read; the message says which part, and why."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """When something is due."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """Sunday is 0."""
    any_day: bool
    """Whether a day of the month and a weekday must both fit, as when one of them is `*`."""

    def after(self, moment: datetime) -> datetime | None:
        """The first time after a moment; None when there is none, as for 30 February."""
        at = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
        end = moment + _LONGEST
        while at < end:
            if at.month not in self.months or not self._day_fits(at):
                at = at.replace(hour=0, minute=0) + timedelta(days=1)
            elif at.hour not in self.hours:
                at = at.replace(minute=0) + timedelta(hours=1)
            elif at.minute not in self.minutes:
                at += timedelta(minutes=1)
            else:
                return at
        return None

    def _day_fits(self, at: datetime) -> bool:
        day, weekday = at.day in self.days, at.isoweekday() % 7 in self.weekdays
        return (day and weekday) if self.any_day else (day or weekday)


def parse(text: str) -> Schedule:
    """A schedule of five fields: minute, hour, day, month, weekday."""
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise CronError(f"{text!r} has {len(fields)} fields instead of 5")
    sets = [_field(field, *limits) for field, limits in zip(fields, _FIELDS, strict=True)]
    weekdays = frozenset(day % 7 for day in sets[4])
    any_day = fields[2].startswith("*") or fields[4].startswith("*")
    return Schedule(sets[0], sets[1], sets[2], sets[3], weekdays, any_day)


def _field(text: str, low: int, high: int) -> frozenset[int]:
    values: set[int] = set()
    for part in text.split(","):
        span, slash, step = part.partition("/")
        first, dash, last = span.partition("-")
        try:
            start = low if span == "*" else int(first)
            end = int(last) if dash else (high if span == "*" or slash else start)
            by = int(step) if slash else 1
        except ValueError:
            raise CronError(f"{part!r} is no number, range or step") from None
        if not (low <= start <= end <= high and by >= 1):
            raise CronError(f"{part!r} is not within {low} to {high}")
        values.update(range(start, end + 1, by))
    return frozenset(values)
