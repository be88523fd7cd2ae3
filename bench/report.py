"""Figures to Markdown. Pure: what was measured goes in, text comes out."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from bench.load import DISTURBED, Figures, Shape

SHAPES = (Shape(50, 1), Shape(50, 16))
NAMES = {"java": "Java 5.3.3", "ours": "Signpost", "c": "plain C"}


@dataclass(frozen=True, slots=True)
class Target:
    """What Signpost must reach in one shape."""

    times_java: float
    share_of_c: float
    p99_of_java: float = 0.25


TARGETS = {str(SHAPES[0]): Target(5, 0.70), str(SHAPES[1]): Target(12, 0.35)}


def median(runs: Sequence[Figures]) -> Figures:
    """The median of each figure by itself."""
    names = [field.name for field in fields(Figures)]
    return Figures(
        **{name: statistics.median(getattr(run, name) for run in runs) for name in names}
    )


def verdict(met: bool, others: float = 0.0) -> str:
    """How the tables say it; a disturbed run is not judged at all."""
    if others > DISTURBED:
        return f"not judged, others took {others:.0%}"
    return "met" if met else "**not met**"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are figures."""
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


@dataclass(frozen=True, slots=True)
class Row:
    """A figure by itself, and the most that it may be."""

    what: str
    value: float
    unit: str
    at_most: float | None = None
    others: float = 0.0

    def cells(self) -> list[str]:
        """As the table shows it."""
        digits = 0 if self.value >= 100 else 2
        cells = [self.what, f"{self.value:,.{digits}f} {self.unit}"]
        if self.at_most is None:
            return [*cells, "", ""]
        said = verdict(self.value <= self.at_most, self.others)
        return [*cells, f"{self.at_most:g} {self.unit}", said]


def rows_table(rows: Iterable[Row]) -> str:
    """One row for each figure."""
    return table(["figure", "measured", "at most", ""], (row.cells() for row in rows))


def lookup_table(medians: Mapping[str, Mapping[str, Figures]]) -> str:
    """One row for each load and server, with the targets in Signpost's rows."""
    head = ["connections x depth", "server", "requests/s", "p50 us", "p99 us", "of Java", "of C"]
    head += ["per CPU s", "server core", "load core", "targets"]
    rows = [
        [
            shape,
            NAMES[name],
            f"{run.rps:,.0f}",
            f"{run.p50_us:,.0f}",
            f"{run.p99_us:,.0f}",
            _ratio(run, by_name.get("java"), "{:.2f}x"),
            _ratio(run, by_name.get("c"), "{:.0%}"),
            f"{run.per_cpu:,.0f}",
            f"{run.server_cpu:.0%}",
            f"{run.generator_cpu:.0%}",
            _targets(TARGETS[shape], by_name) if name == "ours" else "",
        ]
        for shape, by_name in medians.items()
        for name, run in by_name.items()
    ]
    return table(head, rows)


def _ratio(run: Figures, base: Figures | None, form: str) -> str:
    return form.format(run.rps / base.rps) if base else ""


def _targets(target: Target, by_name: Mapping[str, Figures]) -> str:
    ours, java, c = by_name["ours"], by_name.get("java"), by_name.get("c")
    others = max(run.others for run in by_name.values())
    said = []
    if java:
        times, tail = ours.rps / java.rps, ours.p99_us / java.p99_us
        said.append(f"{target.times_java:g}x Java: {verdict(times >= target.times_java, others)}")
        said.append(
            f"p99 {target.p99_of_java:.0%} of Java's (is {tail:.0%}):"
            f" {verdict(tail <= target.p99_of_java, others)}"
        )
    if c:
        share = ours.rps / c.rps
        said.append(f"{target.share_of_c:.0%} of C: {verdict(share >= target.share_of_c, others)}")
    return "; ".join(said)
