"""How large the KV table may grow, and how its size is counted."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import KvStoreError


@dataclass(frozen=True, slots=True)
class KvLimits:
    """Bounds in bytes of UTF-8. The stock server has none; these are far above real use."""

    name: int = 4096
    """A namespace or a key. 4 KiB: they are topic names and group names."""
    value: int = 1 << 20
    """One value. 1 MiB: an order topic's value names a few brokers."""
    total: int = 8 << 20
    """All names and values. 8 MiB: a table must fit into one frame, and each write rewrites it."""

    def check(self, namespace: str, key: str, value: str | None) -> None:
        """Refuse a change whose parts are too large or not Unicode."""
        for what, text, bound in (
            ("namespace", namespace, self.name),
            ("key", key, self.name),
            ("value", value or "", self.value),
        ):
            size = size_of(text, what)
            if size > bound:
                raise KvStoreError(f"the {what} has {size} bytes, at most {bound} are allowed")

    def check_total(self, total: int) -> None:
        """Refuse a table that would be too large."""
        if total > self.total:
            raise KvStoreError(
                f"the KV table would hold {total} bytes, at most {self.total} are allowed; "
                "delete keys that nobody uses"
            )


def size_of(text: str, what: str = "text") -> int:
    """Length in UTF-8; half a surrogate pair has none."""
    try:
        return len(text.encode())
    except UnicodeEncodeError as e:
        raise KvStoreError(f"the {what} is not valid Unicode: {e.reason}") from e
