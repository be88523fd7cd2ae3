"""Look-ups: Signpost against the Java name server and a plain C server, on the same core.

python -m bench.lookup [--quick] [--only java,ours,c] [--out FOLDER]
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.cli import interruptible, parser, step, write_json
from bench.load import DISTURBED, Figures, Shape, measure
from bench.register import Broker, plain_body, route_body, topic_names
from bench.report import SHAPES, lookup_table, median
from bench.servers import (
    Server,
    cores,
    free_port,
    java_command,
    our_command,
    paused,
    pin,
    plain_command,
    running,
)
from bench.wire import GET_ROUTE, AnswerError, Client

BROKERS, TOPICS = 3, 1000
TRIES = 3  # of a run that others disturb
COMMANDS: dict[str, Callable[[Path, int], list[str]]] = {
    "java": java_command,
    "ours": our_command,
    "c": lambda folder, port: plain_command(folder, port, route_body(BROKERS)),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """How long and how often to measure; all times in seconds."""

    repeats: int
    seconds: float
    warm_step: float
    warm_least: float
    warm_most: float


FULL = Plan(repeats=5, seconds=5, warm_step=15, warm_least=60, warm_most=180)
QUICK = Plan(repeats=1, seconds=2, warm_step=5, warm_least=5, warm_most=5)


class Subject:
    """A server under load, with its brokers."""

    def __init__(self, name: str, server: Server, topics: Path) -> None:
        self.name, self.server, self._topics = name, server, topics
        known = topics.read_text().split()
        brokers = range(0 if name == "c" else BROKERS)  # the plain server knows no routes
        self._brokers = [Broker(server.port, number) for number in brokers]
        self._beats = [
            broker.prepare(plain_body(known, timestamp=number))
            for number, broker in enumerate(self._brokers)
        ]
        self.beat()
        self._check(known[-1])

    def beat(self) -> None:
        """Register all brokers again, so that no route expires in the next run."""
        for broker, prepared in zip(self._brokers, self._beats, strict=True):
            broker.register(prepared)

    def run(self, shape: Shape, seconds: float) -> Figures:
        """One run."""
        return measure(self.server, self._topics, shape, seconds)

    def close(self) -> None:
        """Close the brokers' connections."""
        for broker in self._brokers:
            broker.close()

    def _check(self, topic: str) -> None:
        client = Client(self.server.port)
        route = client.call(GET_ROUTE, {"topic": topic}).body
        client.close()
        if _any_order(route) != _any_order(route_body(BROKERS)):
            raise AnswerError(f"{self.name} answers another route: {route.decode()}")


def _any_order(route: bytes) -> dict[str, list[str]]:
    """A route such that two are equal when they differ in the order of brokers alone."""
    return {key: sorted(map(str, value)) for key, value in json.loads(route).items()}


def compare(names: Sequence[str], plan: Plan) -> dict[str, dict[str, list[Figures]]]:
    """All runs, by shape and server."""
    load_core, server_core = cores()
    results: dict[str, dict[str, list[Figures]]] = {}
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="signpost-bench-")))
        topics = work / "topics"
        topics.write_text("\n".join(topic_names(TOPICS)) + "\n")
        subjects = []
        for name in names:
            step(f"start {name} on core {server_core}")
            folder, port = work / name, free_port()
            folder.mkdir()
            command = COMMANDS[name](folder, port)
            server = stack.enter_context(running(command, folder, port, server_core))
            subject = Subject(name, server, topics)
            stack.callback(subject.close)
            subjects.append(subject)
        pin(load_core)
        for shape in SHAPES:
            results[str(shape)] = _one_shape(subjects, shape, plan)
    return results


def _one_shape(subjects: Sequence[Subject], shape: Shape, plan: Plan) -> dict[str, list[Figures]]:
    for subject in subjects:
        _warm_up(subjects, subject, shape, plan)
    runs: dict[str, list[Figures]] = {subject.name: [] for subject in subjects}
    for repeat in range(plan.repeats):
        for subject in subjects:  # in turns: a slow minute of the machine hits all alike
            figures = _calmest(subjects, subject, shape, plan.seconds)
            runs[subject.name].append(figures)
            step(
                f"{shape}: {subject.name} run {repeat + 1} of {plan.repeats}:"
                f" {figures.rps:,.0f}/s, p99 {figures.p99_us:,.0f} us,"
                f" others took {figures.others:.0%}"
            )
    return runs


def _warm_up(subjects: Sequence[Subject], subject: Subject, shape: Shape, plan: Plan) -> None:
    """One step; for a JVM a minute, and on until two steps in a row are no faster by 5 %."""
    spent, best, stale = 0.0, 0.0, 0
    while spent < plan.warm_most and (spent < plan.warm_least or stale < 2):
        figures = _alone(subjects, subject, shape, plan.warm_step)
        stale = 0 if figures.per_cpu > best * 1.05 else stale + 1
        best = max(best, figures.per_cpu)
        spent += plan.warm_step if subject.name == "java" else plan.warm_most
        step(f"{shape}: {subject.name} warms up: {figures.rps:,.0f}/s")


def _calmest(
    subjects: Sequence[Subject], subject: Subject, shape: Shape, seconds: float
) -> Figures:
    tries: list[Figures] = []
    while len(tries) < TRIES and not any(run.others <= DISTURBED for run in tries):
        tries.append(_alone(subjects, subject, shape, seconds))
    return min(tries, key=lambda run: run.others)


def _alone(subjects: Sequence[Subject], subject: Subject, shape: Shape, seconds: float) -> Figures:
    """One run, shorter than any expiry, while the other servers stand still."""
    for each in subjects:
        each.beat()
    with paused(each.server for each in subjects if each is not subject):
        return subject.run(shape, seconds)


def main() -> None:
    """Run, print the table, write the figures."""
    arguments = parser(__doc__, list(COMMANDS)).parse_args()
    plan = QUICK if arguments.quick else FULL
    started = time.monotonic()
    results = compare(arguments.only, plan)
    step(f"done in {time.monotonic() - started:.0f} s")
    medians = {
        shape: {name: median(runs) for name, runs in by_name.items()}
        for shape, by_name in results.items()
    }
    print(lookup_table(medians))
    write_json(
        arguments.out,
        "lookup",
        {
            "plan": asdict(plan),
            "runs": {
                shape: {name: [asdict(run) for run in runs] for name, runs in by_name.items()}
                for shape, by_name in results.items()
            },
        },
    )


if __name__ == "__main__":
    interruptible(main)
