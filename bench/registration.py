"""Registrations and memory: what they cost one server process.

python -m bench.registration [--quick] [--only first,unchanged,storm,memory,idle]
                             [--server ours|java] [--out FOLDER]
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial

from bench.cli import interruptible, parser, step, write_json
from bench.load import Shape, loading, measure
from bench.memory import idle_connections, many_topics
from bench.register import Broker, Registration, plain_body, topic_names
from bench.report import Row, rows_table
from bench.scene import Scene, gently, scene
from bench.servers import cores, java_command, our_command, pin
from bench.wire import REGISTER_BROKER

TOPICS = 10_000
NO_SUCH_REQUEST = 9999
ONE_BY_ONE = Shape(1, 1)
STEADY = Shape(50, 16, rate=5000)
STORM_P99_MS = 5.0
CALM = "nobody registers"
LONGEST = 300.0  # seconds; a run ends when what it accompanies is over


def first_registration(on: Scene) -> list[Row]:
    """A broker that nobody knew brings 10,000 topics that nobody knew."""
    repeats = 2 if on.quick else 7
    stalls, calm, totals, others = [], [], [], []
    for repeat in range(repeats):
        without = measure(on.server, on.topics, ONE_BY_ONE, 0.5)
        calm.append(without.max_us / 1e3)
        others.append(without.others)
        broker = on.broker(100 + repeat)
        prepared = broker.prepare(plain_body(topic_names(TOPICS, f"first-{repeat}")))
        with loading(on.server, on.topics, ONE_BY_ONE, LONGEST) as run:
            totals.append(gently(partial(_timed, broker, prepared)))
            stalls.append(run.end().max_us / 1e3)
        step(f"first registration: look-up waited {stalls[-1]:.1f} ms, total {totals[-1]:.0f} ms")
    stall, disturbed = statistics.median(stalls), statistics.median(others)
    return [
        Row("first registration, 10,000 topics: longest stall", stall, "ms", 10, disturbed),
        Row("- longest look-up in half a second without it", statistics.median(calm), "ms"),
        Row("- until it is answered", statistics.median(totals), "ms"),
    ]


def unchanged_registration(on: Scene) -> list[Row]:
    """The same broker says the same again and again."""
    repeats = 50 if on.quick else 1000
    broker = on.broker(100)
    prepared = broker.prepare(plain_body(topic_names(TOPICS)))
    broker.register(prepared)
    bare = _cost(on, broker, prepared, NO_SUCH_REQUEST, repeats)
    full = _cost(on, broker, prepared, REGISTER_BROKER, repeats)
    step(f"unchanged registration: {full[0]:.0f} us of the server, {bare[0]:.0f} to receive it")
    size = len(prepared.body) / 1e6
    return [
        Row(
            f"unchanged registration, 10,000 topics ({size:.1f} MB): server time", full[0], "us", 50
        ),
        Row("- of that, beyond receiving such a frame", max(full[0] - bare[0], 0), "us", 50),
        Row("- until it is answered", full[1], "us"),
    ]


def storm(on: Scene) -> list[Row]:
    """50 brokers that share 10,000 topics register again under a steady 5,000 look-ups/s."""
    count, period, rounds = (5, 5.0, 1) if on.quick else (50, 30.0, 3)
    names = topic_names(TOPICS)
    topics = on.folder / "storm-topics"
    topics.write_text("\n".join(names) + "\n")
    brokers = [on.broker(100 + number) for number in range(count)]
    same = _round(brokers, names, 0)
    _at_once(brokers, [same])
    step(f"{count} brokers x {TOPICS:,} topics are registered")
    new = [_round(brokers, names, counter) for counter in range(1, rounds + 2)]
    rows = []
    for what, send in [
        (CALM, partial(time.sleep, period / 3)),
        (f"each unchanged every {period:g} s", partial(_paced, brokers, same, period)),
        ("all unchanged at once", partial(_at_once, brokers, [same] * rounds)),
        (f"each changed every {period:g} s", partial(_paced, brokers, new[0], period)),
        ("all changed at once", partial(_at_once, brokers, new[1:])),
    ]:
        with loading(on.server, topics, STEADY, LONGEST) as run:
            gently(send)
            figures = run.end()
        label = f"{count} brokers x 10,000 topics, {what}"
        step(
            f"{label}: p99 {figures.p99_us / 1e3:.2f} ms,"
            f" others took {figures.others_on_server_core:.0%} of the server's core"
        )
        limit = None if what == CALM else STORM_P99_MS
        others = figures.others_on_server_core
        rows.append(Row(f"look-up p99: {label}", figures.p99_us / 1e3, "ms", limit, others))
        rows.append(Row("- longest look-up", figures.max_us / 1e3, "ms"))
    return rows


def _round(brokers: Sequence[Broker], names: list[str], counter: int) -> list[Registration]:
    """What each broker sends when its table has changed so many times."""
    return [
        broker.prepare(plain_body(names, number, counter)) for number, broker in enumerate(brokers)
    ]


def _paced(brokers: Sequence[Broker], sent: Sequence[Registration], period: float) -> None:
    """Each broker once in the period, evenly; the last ends before the period does."""
    started = time.monotonic()
    for number, (broker, prepared) in enumerate(zip(brokers, sent, strict=True)):
        due = started + period * (number + 0.1) / len(brokers)
        time.sleep(max(due - time.monotonic(), 0))
        broker.register(prepared)


def _at_once(brokers: Sequence[Broker], rounds: Sequence[Sequence[Registration]]) -> None:
    """In each round everything is sent before the first answer is read."""
    for sent in rounds:
        for broker, prepared in zip(brokers, sent, strict=True):
            broker.send(prepared)
        for broker in brokers:
            broker.answer()


def _timed(broker: Broker, prepared: Registration) -> float:
    started = time.monotonic()
    broker.register(prepared)
    return (time.monotonic() - started) * 1e3


def _cost(
    on: Scene, broker: Broker, prepared: Registration, code: int, repeats: int
) -> tuple[float, float]:
    """Mean server time and median client time of a request, in microseconds."""
    times = []
    before = on.server.cpu().total
    for _ in range(repeats):
        started = time.monotonic()
        broker.send(prepared, code)
        broker.answer()
        times.append(time.monotonic() - started)
    used = on.server.cpu().total - before
    return used / repeats * 1e6, statistics.median(times) * 1e6


FIGURES: dict[str, Callable[[Scene], list[Row]]] = {
    "first": first_registration,
    "unchanged": unchanged_registration,
    "storm": storm,
    "memory": many_topics,
    "idle": idle_connections,
}


def main() -> None:
    """Run each part against a fresh server, print the table, write the figures."""
    flags = parser(__doc__, list(FIGURES))
    flags.add_argument("--server", choices=("ours", "java"), default="ours", help="which server")
    arguments = flags.parse_args()
    command = java_command if arguments.server == "java" else our_command
    pin_to, _ = cores()
    rows: list[Row] = []
    for name in arguments.only:
        step(f"{name}: start {arguments.server}")
        with scene(command, arguments.quick) as on:
            pin(pin_to)
            rows += FIGURES[name](on)
    print(rows_table(rows))
    write_json(arguments.out, "registration", {"rows": [asdict(row) for row in rows]})


if __name__ == "__main__":
    interruptible(main)
