"""A fresh server with some topics to look up, for one figure."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from bench.register import Broker, plain_body, topic_names
from bench.servers import Server, cores, free_port, raise_file_limit, running

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scene:
    """The server, a file with topics that it knows, and a folder that goes away."""

    server: Server
    topics: Path
    folder: Path
    quick: bool
    stack: ExitStack

    def broker(self, number: int) -> Broker:
        """A broker that leaves when the scene ends."""
        broker = Broker(self.server.port, number)
        self.stack.callback(broker.close)
        return broker


@contextmanager
def scene(command: Callable[[Path, int], list[str]], quick: bool) -> Iterator[Scene]:
    """Start a server on its core and register 3 brokers x 1,000 topics."""
    raise_file_limit()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="signpost-bench-")))
        port = free_port()
        server = stack.enter_context(running(command(folder, port), folder, port, cores()[1]))
        names = topic_names(1000, "known")
        topics = folder / "topics"
        topics.write_text("\n".join(names) + "\n")
        on = Scene(server, topics, folder, quick, stack)
        for number in range(3):
            broker = on.broker(number)
            broker.register(broker.prepare(plain_body(names, number)))
        yield on


def gently(work: Callable[[], T]) -> T:
    """Do it in a thread of the lowest priority: the load generator has the same core."""

    def lower() -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)

    with ThreadPoolExecutor(1, initializer=lower) as pool:
        return pool.submit(work).result()
