"""The one error of this room."""


class KvStoreError(Exception):
    """The KV file cannot be read or written, or a change is out of bounds; the text says why."""
