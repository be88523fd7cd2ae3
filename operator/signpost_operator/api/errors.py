"""What can go wrong between the operator and the Kubernetes API; aiohttp's errors stay below."""

from __future__ import annotations


class ApiError(Exception):
    """A call to the Kubernetes API did not do what it was for."""


class UnreachableError(ApiError):
    """Nobody answered in time, however often it was tried."""


class RefusedError(ApiError):
    """The API server answered, and the answer was no."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message or reason or f"HTTP status {status}")
        self.status = status
        self.reason = reason


class NotFoundError(RefusedError):
    """The object, or its whole kind, is not there."""


class ConflictError(RefusedError):
    """Somebody else was quicker."""


class InvalidError(RefusedError):
    """The object breaks a rule of its kind: an immutable field, a bad value."""


class ForbiddenError(RefusedError):
    """The operator's role does not allow it, or an admission rule or a quota."""


class BusyError(RefusedError):
    """The API server has too much to do, or is not there behind its load balancer."""

    def __init__(self, status: int, reason: str, message: str, wait: float | None) -> None:
        super().__init__(status, reason, message)
        self.wait = wait


_BY_STATUS: dict[int, type[RefusedError]] = {
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    422: InvalidError,
}
_BUSY = {429, 502, 503, 504}
"""Not 500: that is also what a manifest of the wrong types gets."""


def refusal(status: int, reason: str, message: str, wait: float | None) -> RefusedError:
    """The error for an answer; `wait` is what the server asks for in Retry-After."""
    if status in _BUSY:
        return BusyError(status, reason, message, wait)
    return _BY_STATUS.get(status, RefusedError)(status, reason, message)
