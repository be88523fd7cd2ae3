"""When a name server that has just started may be believed.

Until then it knows few routes and would tell clients that their topics do not exist.
"""

from collections.abc import Iterable

from signpost_namesrv.routes.tables import Tables


class Warmup:
    """Waits for the expected brokers, but never longer than its time."""

    def __init__(
        self, *, enabled: bool, started_ms: int, wait_ms: int, expected: Iterable[str] = ()
    ) -> None:
        """`expected` holds broker names, each alone or as `cluster/name`."""
        self.enabled = enabled
        self._done = False
        self._deadline = started_ms + wait_ms
        self._expected = tuple(expected)

    def done(self, tables: Tables, now_ms: int) -> bool:
        """Whether the wait is over. Once it is, it stays so."""
        if not self.enabled:
            return True
        if not self._done:
            heard_all = bool(self._expected) and not self.missing(tables)
            self._done = heard_all or now_ms >= self._deadline
        return self._done

    def missing(self, tables: Tables) -> list[str]:
        """The expected brokers that have not been heard yet."""
        return [name for name in self._expected if not _is_known(tables, name)]

    def remaining_ms(self, now_ms: int) -> int:
        """How much longer it may wait."""
        waiting = self.enabled and not self._done
        return max(0, self._deadline - now_ms) if waiting else 0


def _is_known(tables: Tables, expected: str) -> bool:
    cluster, slash, name = expected.rpartition("/")
    if slash:
        return name in tables.clusters.get(cluster, frozenset()) and name in tables.groups
    return name in tables.groups
