"""Kubernetes events: one for every decision, none again and again."""

from __future__ import annotations

import time
from collections import OrderedDict

from signpost_operator.api import Manifest
from signpost_operator.apply import Applier
from signpost_operator.status import Event

QUIET_SECONDS = 600.0
REMEMBERED = 10_000


class Teller:
    """Posts events; the same words about the same resource only once in a while."""

    def __init__(self, applier: Applier) -> None:
        self._applier = applier
        self._told: OrderedDict[tuple[str, str, str], float] = OrderedDict()

    async def tell(self, body: Manifest, event: Event) -> None:
        """One event about a resource."""
        key = (body["metadata"]["uid"], event.reason, event.message)
        now = time.monotonic()
        if now - self._told.get(key, -QUIET_SECONDS) < QUIET_SECONDS:
            return
        self._told[key] = now
        self._told.move_to_end(key)
        while len(self._told) > REMEMBERED:
            self._told.popitem(last=False)
        await self._applier.post_event(body, event.type, event.reason, event.message)
