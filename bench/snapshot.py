"""The HTTP side beside the remoting port: what a snapshot of 100,000 topics costs look-ups.

python -m bench.snapshot [--quick] [--only plain,gzip,scrape] [--out FOLDER]

Runs without and with the disturbance take turns, so that a slow minute of the machine hits both.
Look-ups per second of the server's own processor time are shown, too: on a calm machine they fall
by as much; where others take processor time the server is idle now and then, and the HTTP side
uses that.
"""

from __future__ import annotations

import http.client
import re
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.cli import interruptible, parser, step, write_json
from bench.load import Figures, Shape, measure
from bench.register import Broker, Registration, compressed_body, topic_names
from bench.report import SHAPES, table, verdict
from bench.scene import Scene, gently, scene
from bench.servers import cores, our_command, pin

AT_MOST = 0.10
"""The share of the look-ups that a snapshot may cost."""
CHUNK = 1 << 20
DISTURBED = 0.05


@dataclass(slots=True)
class Fetches:
    """What was fetched meanwhile."""

    count: int = 0
    size: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Result:
    """One shape with one disturbance, the medians of all turns."""

    what: str
    shape: str
    calm: float
    disturbed: float
    calm_p99: float
    disturbed_p99: float
    calm_per_cpu: float
    disturbed_per_cpu: float
    fetches: int
    size: int
    seconds: float
    others: float

    @property
    def loss(self) -> float:
        """The share of the look-ups that it cost."""
        return 1 - self.disturbed / self.calm

    def cells(self) -> list[str]:
        """As the table shows it."""
        each = self.seconds / self.fetches if self.fetches else 0.0
        return [
            f"{self.shape}, {self.what}",
            f"{self.calm:,.0f}",
            f"{self.disturbed:,.0f}",
            f"{self.calm_per_cpu:,.0f}",
            f"{self.disturbed_per_cpu:,.0f}",
            f"{self.loss:.1%}",
            f"{self.calm_p99:,.0f}",
            f"{self.disturbed_p99:,.0f}",
            f"{self.fetches} x {self.size / 1e6:.2f} MB",
            f"{each * 1000:,.0f}",
            verdict(self.loss <= AT_MOST),
        ]


def http_port(on: Scene) -> int:
    """The port that the server chose, from its log."""
    found = re.search(r"listening for HTTP .*port=(\d+)", (on.folder / "output.log").read_text())
    if found is None:
        raise RuntimeError("the server has no HTTP port")
    return int(found[1])


@contextmanager
def fetching(port: int, path: str, headers: dict[str, str], pause: float) -> Iterator[Fetches]:
    """Fetch one path again and again, gently: the load generator has the same core."""
    fetches, over = Fetches(), threading.Event()

    def work() -> None:
        while not over.wait(pause):
            client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            began = time.perf_counter()
            client.request("GET", path, headers=headers)
            response = client.getresponse()
            size = 0
            while data := response.read(CHUNK):
                size += len(data)
            client.close()
            fetches.count += 1
            fetches.size = size
            fetches.seconds += time.perf_counter() - began

    thread = threading.Thread(target=lambda: gently(work))
    thread.start()
    try:
        yield fetches
    finally:
        over.set()
        thread.join()


DISTURBANCES: dict[str, tuple[str, dict[str, str], float]] = {
    "plain": ("/v1/snapshot", {}, 0.0),
    "gzip": ("/v1/snapshot", {"Accept-Encoding": "gzip"}, 0.0),
    "scrape": ("/metrics", {}, 1.0),
}


@dataclass(frozen=True, slots=True)
class Stage:
    """A server with many topics, whose brokers must be heard now and then."""

    on: Scene
    topics: Path
    brokers: list[tuple[Broker, Registration]]

    @classmethod
    def set_up(cls, on: Scene, count: int) -> Stage:
        """Register so many topics on 2 brokers; 1,000 of them are looked up."""
        names = topic_names(count)
        brokers = []
        for number in range(2):
            broker = on.broker(100 + number)
            brokers.append((broker, broker.prepare(compressed_body(names, number), True)))
        topics = on.folder / "looked-up"
        topics.write_text("\n".join(names[:: max(1, count // 1000)]) + "\n")
        return cls(on, topics, brokers)

    def beat(self) -> None:
        """Register all brokers again, so that no route expires in the next runs."""
        for broker, prepared in self.brokers:
            broker.register(prepared)


def disturbed(stage: Stage, name: str, shape: Shape, turns: int, seconds: float) -> Result:
    """Turns without and with one disturbance."""
    path, headers, pause = DISTURBANCES[name]
    on, topics = stage.on, stage.topics
    port = http_port(on)
    calm: list[Figures] = []
    busy: list[Figures] = []
    total = Fetches()
    for turn in range(turns):
        stage.beat()
        calm.append(measure(on.server, topics, shape, seconds))
        with fetching(port, path, headers, pause) as fetches:
            busy.append(measure(on.server, topics, shape, seconds))
        total.count += fetches.count
        total.seconds += fetches.seconds
        total.size = fetches.size
        step(
            f"{shape} {name} turn {turn + 1} of {turns}: {calm[-1].rps:,.0f}/s alone,"
            f" {busy[-1].rps:,.0f}/s beside {fetches.count} fetches; per second of CPU"
            f" {calm[-1].per_cpu:,.0f} and {busy[-1].per_cpu:,.0f}"
        )

    def middle(runs: list[Figures], pick: Callable[[Figures], float]) -> float:
        return statistics.median(pick(run) for run in runs)

    return Result(
        what=name,
        shape=str(shape),
        calm=middle(calm, lambda run: run.rps),
        disturbed=middle(busy, lambda run: run.rps),
        calm_p99=middle(calm, lambda run: run.p99_us),
        disturbed_p99=middle(busy, lambda run: run.p99_us),
        calm_per_cpu=middle(calm, lambda run: run.per_cpu),
        disturbed_per_cpu=middle(busy, lambda run: run.per_cpu),
        fetches=total.count,
        size=total.size,
        seconds=total.seconds,
        others=max(run.others for run in [*calm, *busy]),
    )


def main() -> None:
    """Run, print the table, write the figures."""
    arguments = parser(__doc__, list(DISTURBANCES)).parse_args()
    count, turns, seconds = (10_000, 1, 2.0) if arguments.quick else (100_000, 5, 4.0)
    pin(cores()[0])
    with scene(our_command, arguments.quick) as on:
        stage = Stage.set_up(on, count)
        stage.beat()
        step(f"{count:,} topics x 2 brokers are registered")
        for shape in SHAPES:
            measure(on.server, stage.topics, shape, 1.0)
        results = [
            disturbed(stage, name, shape, turns, seconds)
            for name in arguments.only
            for shape in SHAPES
        ]
    head = ["load, disturbance", "alone/s", "beside/s", "alone/CPU s", "beside/CPU s", "loss"]
    head += ["p99 alone us", "p99 beside us", "fetched", "ms each", f"at most {AT_MOST:.0%}"]
    print(table(head, map(Result.cells, results)))
    worst = max((result.others for result in results), default=0.0)
    if worst > DISTURBED:
        print(f"\nOther processes took up to {worst:.0%} of a core: repeat when it is calm.")
    write_json(arguments.out, "snapshot", {"results": [asdict(result) for result in results]})


if __name__ == "__main__":
    interruptible(main)
