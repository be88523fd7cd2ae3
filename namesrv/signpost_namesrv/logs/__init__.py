"""Structured logs: one line per event, as text or JSON, over the standard library's logging.

    log = logs.get("server")
    log.info("connection closed", peer=peer, reason="idle")

The message is constant, what varies goes into fields. Whatever a field holds stays on its line;
a field that is None is left out.
"""

import logging
from collections.abc import Mapping

from .lines import RENDERERS, Event, Style
from .writer import Writer

__all__ = ["Log", "configure", "get", "set_level"]

_ROOT = "signpost"
_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


class Log:
    """Writes the events of one part of the server."""

    __slots__ = ("_logger",)

    def __init__(self, part: str) -> None:
        self._logger = logging.getLogger(f"{_ROOT}.{part}")

    def debug(self, message: str, /, **fields: object) -> None:
        """Log what helps to find a fault, such as every heartbeat."""
        if self._logger.isEnabledFor(logging.DEBUG):
            self._write(logging.DEBUG, message, fields)

    def info(self, message: str, /, **fields: object) -> None:
        """Log a decision."""
        if self._logger.isEnabledFor(logging.INFO):
            self._write(logging.INFO, message, fields)

    def warning(self, message: str, /, **fields: object) -> None:
        """Log what somebody should look at when there is time."""
        if self._logger.isEnabledFor(logging.WARNING):
            self._write(logging.WARNING, message, fields)

    def error(self, message: str, /, **fields: object) -> None:
        """Log a failure; an exception among the fields brings its stack along."""
        if self._logger.isEnabledFor(logging.ERROR):
            self._write(logging.ERROR, message, fields)

    def _write(self, level: int, message: str, fields: Mapping[str, object]) -> None:
        # Not Logger.log: that walks the stack for a line number that nobody prints.
        logger = self._logger
        extra = {"fields": fields}
        logger.handle(logger.makeRecord(logger.name, level, "", 0, message, (), None, extra=extra))


def get(part: str) -> Log:
    """The log of one part of the server."""
    return Log(part)


def configure(level: str, style: Style, descriptor: int = 1) -> Writer:
    """Send all logs, those of libraries included, to a file descriptor and nowhere else."""
    writer = Writer(descriptor)
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
        old.close()
    root.addHandler(_Handler(writer, style))
    root.setLevel(logging.WARNING)
    set_level(level)
    return writer


def set_level(level: str) -> None:
    """Change the level while running."""
    logging.getLogger(_ROOT).setLevel(_LEVELS[level])


class _Handler(logging.Handler):
    def __init__(self, writer: Writer, style: Style) -> None:
        super().__init__()
        self._writer = writer
        self._render = RENDERERS[style]

    def emit(self, record: logging.LogRecord) -> None:
        try:
            if lost := self._writer.take_lost():
                event = Event(record.created, 30, "logs", "log lines lost", {"count": lost})
                self._writer.put(self._render(event))
            self._writer.put(self._render(_event(record)))
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        self._writer.close()
        super().close()


def _event(record: logging.LogRecord) -> Event:
    fields: dict[str, object] = dict(getattr(record, "fields", {}))
    if record.exc_info:
        fields["error"] = record.exc_info[1]
    part = record.name.removeprefix(f"{_ROOT}.")
    return Event(record.created, record.levelno, part, record.getMessage(), fields)
