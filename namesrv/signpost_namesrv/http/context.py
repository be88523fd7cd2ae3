"""What the handlers work on, and the ports through which they reach the rest of the process."""

import uuid
from collections.abc import Awaitable, Generator, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from aiohttp import web

from signpost_namesrv.dispatch.state import State

from .options import Options
from .pace import Pace


@dataclass(frozen=True, slots=True)
class Link:
    """How a remoting peer is connected."""

    address: str
    tls: bool
    names: tuple[str, ...] = ()


class KvView(Protocol):
    """All of the KV configuration."""

    def snapshot(self) -> Mapping[str, Mapping[str, str]]:
        """Everything, as it is now; it never changes afterwards."""

    def digest(self) -> str:
        """Equal on two servers exactly when their KV contents are."""


class TlsView(Protocol):
    """What is to be known of the certificate on the remoting port."""

    @property
    def reloads(self) -> int:
        """How often it was replaced."""

    @property
    def reload_failures(self) -> int:
        """How often a new one was bad."""

    @property
    def not_after(self) -> float | None:
        """When it ends, in seconds since the epoch."""


class RemotingView(Protocol):
    """What is to be known of the remoting port."""

    @property
    def connections(self) -> int:
        """How many peers there are."""

    @property
    def served(self) -> int:
        """How many look-ups were answered from their bytes; the counters do not have them."""

    def link(self, connection: Hashable) -> Link | None:
        """How a peer is connected; None when it is gone."""


class RunJob(Protocol):
    """Runs a change to the tables in its turn, alone."""

    def __call__(self, job: Generator[None, None, Any], /) -> Awaitable[Any]:
        """What the job returns."""


@dataclass(slots=True)
class Context:
    """One name server, as the HTTP side knows it."""

    state: State
    kv: KvView
    remoting: RemotingView
    run_job: RunJob
    tls: TlsView | None = None
    options: Options = field(default_factory=Options)
    identity: str = field(default_factory=lambda: str(uuid.uuid4()))
    """Of this life of the server: revisions of another one mean nothing here."""
    started_ms: int = 0
    pace: Pace = field(default_factory=Pace)
    kv_changes: int = 0
    """How many entries of the KV configuration changed."""

    def __post_init__(self) -> None:
        self.started_ms = self.started_ms or self.state.now_ms()

    def kv_changed(self, namespace: str, key: str) -> None:
        """Count a change to the KV configuration."""
        self.kv_changes += 1


CONTEXT = web.AppKey("context", Context)
