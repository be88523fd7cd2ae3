"""The table that the next file write will hold: the old one with changes, the old untouched."""

from __future__ import annotations

from collections.abc import Mapping

from .codec import Table
from .limits import KvLimits, size_of


class Draft:
    """Copy on write: readers keep the table they hold."""

    def __init__(self, table: Table, weight: int, limits: KvLimits) -> None:
        self.table: Table = table
        self.weight = weight
        self.changed: dict[tuple[str, str], None] = {}
        self._limits = limits
        self._copied: dict[str, dict[str, str]] = {}
        self._own: dict[str, Mapping[str, str]] | None = None

    def put(self, namespace: str, key: str, value: str | None) -> None:
        """Set a value; None makes the namespace and leaves the key without a value."""
        old = self.table.get(namespace, {}).get(key)
        if namespace in self.table and old == value:
            return
        weight = self.weight - _entry(key, old) + _entry(key, value)
        if namespace not in self.table:
            weight += size_of(namespace)
        if weight > self.weight:
            self._limits.check_total(weight)
        self._apply(namespace, key, value, weight)

    def delete(self, namespace: str, key: str) -> None:
        """Remove a key if it is there; its namespace stays."""
        old = self.table.get(namespace, {}).get(key)
        if old is not None:
            self._apply(namespace, key, None, self.weight - _entry(key, old))

    def _apply(self, namespace: str, key: str, value: str | None, weight: int) -> None:
        if self._own is None:
            self.table = self._own = dict(self.table)
        if namespace not in self._copied:
            self._own[namespace] = self._copied[namespace] = dict(self._own.get(namespace, {}))
        if value is None:
            self._copied[namespace].pop(key, None)
        else:
            self._copied[namespace][key] = value
        self.weight = weight
        self.changed[namespace, key] = None


def _entry(key: str, value: str | None) -> int:
    return 0 if value is None else size_of(key) + size_of(value)
