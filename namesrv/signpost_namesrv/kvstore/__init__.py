"""The KV table and its file, `kvConfig.json`, in the format of the stock name server.

Reads come from memory; a write answers only when the file on disk is durable.
"""

from .codec import Table
from .errors import KvStoreError
from .limits import KvLimits
from .store import KvStore

__all__ = ["KvLimits", "KvStore", "KvStoreError", "Table"]
