"""Lines to a file descriptor, from a thread of its own: a stalled reader stalls no server."""

import atexit
import os
import queue
import select
import threading

_LINES_WAITING = 10_000


class Writer:
    """Takes lines without ever waiting; loses them, and counts, when too many wait already."""

    def __init__(self, descriptor: int, room: int = _LINES_WAITING) -> None:
        self._descriptor = descriptor
        self._lines: queue.Queue[bytes | None] = queue.Queue(room)
        self._lost = 0
        self._thread = threading.Thread(target=self._run, name="log writer", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def put(self, line: str) -> None:
        """Hand a line over."""
        try:
            self._lines.put_nowait(line.encode("utf-8", "backslashreplace") + b"\n")
        except queue.Full:
            self._lost += 1

    def take_lost(self) -> int:
        """How many lines were lost since the last call; 0 while there is no room to say so."""
        if not self._lost or self._lines.full():
            return 0
        lost, self._lost = self._lost, 0
        return lost

    def close(self, timeout: float = 2.0) -> None:
        """Write what waits, unless that takes too long."""
        atexit.unregister(self.close)
        try:
            self._lines.put(None, timeout=timeout)
        except queue.Full:
            return
        self._thread.join(timeout)

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                self._write(line)
            except OSError:  # a closed pipe, a full disk: the server goes on
                self._lost += 1

    def _write(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                select.select([], [self._descriptor], [])
