"""What several name servers all say to a broker should reach it once. Pure."""

from signpost_namesrv.wire.command import Command


class Notices:
    """Remembers what was passed on lately."""

    def __init__(self, window: float = 10.0) -> None:
        self._window = window
        self._passed: dict[object, float] = {}

    def is_news(self, command: Command, now: float) -> bool:
        """Whether nobody said the same a moment ago."""
        for said, at in list(self._passed.items()):
            if now - at >= self._window:
                del self._passed[said]
        said = command.code, frozenset((command.fields or {}).items()), command.body
        if said in self._passed:
            return False
        self._passed[said] = now
        return True
