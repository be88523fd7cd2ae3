"""Log lines, Kopf's included: one JSON object each for collectors, or text for people."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname,
            "part": record.name,
            "message": record.getMessage(),
        }
        line |= {k: v for k, v in vars(record).items() if k not in _STANDARD and k not in line}
        if record.exc_info:
            line["stack"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        own = {k: v for k, v in vars(record).items() if k not in _STANDARD}
        fields = "".join(f" {name}={value}" for name, value in own.items())
        stack = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        message = f"{record.levelname:<7} {record.name} {record.getMessage()}"
        return f"{_time(record)} {message}{fields}{stack}"


def _time(record: logging.LogRecord) -> str:
    stamp = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    return stamp.replace("+00:00", "Z")


def configure(style: str, level: str) -> None:
    """Everything to standard error. Kopf tells of every watch it opens: only its warnings count."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if style == "json" else _Text())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    if level != "debug":
        logging.getLogger("kopf").setLevel(logging.WARNING)
        logging.getLogger("aiohttp.access").setLevel(logging.WARNING)
