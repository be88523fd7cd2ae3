"""What the server counts. Plain numbers: whoever shows them reads them when asked."""

from collections import Counter

from signpost_namesrv.wire.codes import RequestCode

OTHER = -1
"""Stands for all codes that are none of ours: peers must not choose what we keep."""

BUCKETS = (0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Upper bounds of the latency histogram, in seconds."""


_KNOWN = frozenset(RequestCode)


class Stats:
    """Requests by code and outcome with their latency; connections; departures by reason."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[int, int]] = Counter()
        self.latency: dict[int, list[int]] = {}
        """By request code: one count per bucket, and one for all that took longer."""
        self.seconds: Counter[int] = Counter()
        self.connections_accepted = 0
        self.connections_refused = 0
        self.departures: Counter[str] = Counter()

    def count(self, code: int, outcome: int, seconds: float) -> None:
        """One request was answered."""
        if code not in _KNOWN:
            code = OTHER
        self.requests[code, outcome] += 1
        buckets = self.latency.get(code)
        if buckets is None:
            buckets = self.latency[code] = [0] * (len(BUCKETS) + 1)
        place = 0
        for bound in BUCKETS:
            if seconds <= bound:
                break
            place += 1
        buckets[place] += 1
        self.seconds[code] += seconds  # type: ignore[assignment]
