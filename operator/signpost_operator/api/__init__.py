"""The Kubernetes API as the operator needs it: kinds, errors, one asynchronous client.

The official client is synchronous and would need a thread for each call in flight; Kopf brings
aiohttp along and knows how to log in, and five verbs on JSON are all that is needed here.
"""

from .client import Api, Query
from .errors import (
    ApiError,
    BusyError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    RefusedError,
    UnreachableError,
)
from .kinds import Kind, Manifest

__all__ = [
    "Api",
    "ApiError",
    "BusyError",
    "ConflictError",
    "ForbiddenError",
    "InvalidError",
    "Kind",
    "Manifest",
    "NotFoundError",
    "Query",
    "RefusedError",
    "UnreachableError",
]
