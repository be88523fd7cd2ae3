"""Bytes of `kvConfig.json` <-> the KV table. Pure: no files, no clock.

The stock server writes standard JSON, `{"configTable":{"namespace":{"key":"value"}}}`, and
keeps a namespace whose last key was deleted. What a person may have edited in (a number for a
value, a null) is read as the stock server reads it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec

from .errors import KvStoreError
from .limits import size_of

Table: TypeAlias = Mapping[str, Mapping[str, str]]

SHOWN_ENTRIES = 200
SHOWN_CHARS = 200


def parse(data: bytes) -> dict[str, dict[str, str]]:
    """Read the file's bytes; the error says what is wrong and where."""
    if not data.strip():
        # A stock server that died while writing leaves exactly this: it truncates first.
        raise KvStoreError("it is empty")
    try:
        # Numbers keep the text they were written with.
        document = json.loads(
            data.decode(), parse_int=str, parse_float=str, parse_constant=_no_constant
        )
    except json.JSONDecodeError as e:
        raise KvStoreError(f"line {e.lineno} column {e.colno}: {e.msg}") from e
    except UnicodeDecodeError as e:
        raise KvStoreError(f"byte {e.start}: not UTF-8 ({e.reason})") from e
    except RecursionError as e:
        raise KvStoreError("nested too deeply") from e
    config_table = _object(document, "the document").pop("configTable", None)
    if others := sorted(document):
        raise KvStoreError(f"{others[0]!r} is not known here and the next write would lose it")
    return {
        namespace: _entries(entries, f"configTable[{namespace!r}]")
        for namespace, entries in _object(config_table, "configTable").items()
    }


def render(table: Table) -> bytes:
    """Write the file's bytes; sorted, so that equal tables give equal files."""
    return msgspec.json.encode({"configTable": table}, order="sorted")


def digest(table: Table) -> str:
    """Equal exactly when two tables are, whatever the order in which they were filled."""
    return hashlib.sha256(render(table)).hexdigest()


def weigh(table: Table) -> int:
    """Bytes of all names and values."""
    return sum(
        size_of(namespace) + sum(size_of(key) + size_of(value) for key, value in entries.items())
        for namespace, entries in table.items()
    )


def describe(table: Table) -> Iterator[dict[str, str | int]]:
    """Fields of log lines: the size, then one line per entry, bounded in number and length."""
    keys = sum(map(len, table.values()))
    yield {"namespaces": len(table), "keys": keys}
    shown = 0
    for namespace in sorted(table):
        for key in sorted(table[namespace]):
            if shown == SHOWN_ENTRIES:
                yield {"left_out": keys - shown}
                return
            shown += 1
            value = table[namespace][key]
            yield {"namespace": _cut(namespace), "key": _cut(key), "value": _cut(value)}


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}... ({len(text)} characters)"


def _no_constant(name: str) -> object:
    raise KvStoreError(f"{name} is not a JSON value")


def _object(value: object, where: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise KvStoreError(f"{where} must be a JSON object")
    return value


def _entries(value: object, where: str) -> dict[str, str]:
    entries = {}
    for key, entry in _object(value, where).items():
        if isinstance(entry, bool):
            entries[key] = "true" if entry else "false"
        elif isinstance(entry, str):
            entries[key] = entry
        elif entry is not None:  # a null is a key that is not there
            raise KvStoreError(f"{where}[{key!r}] must be a string")
    return entries
