"""What joins rooms that do not know each other."""

from collections.abc import Hashable

from signpost_namesrv.dispatch.state import PortError
from signpost_namesrv.http import Link
from signpost_namesrv.kvstore import KvStore, KvStoreError
from signpost_namesrv.server.connection import Connection
from signpost_namesrv.server.door import Session, SessionError
from signpost_namesrv.server.server import Server
from signpost_namesrv.tls import ReloadingTls, TlsError, TlsMode, TlsSession, Verdict, judge


class KvConfig:
    """The KV store as dispatch knows it."""

    def __init__(self, store: KvStore) -> None:
        self._store = store
        self.get = store.get
        self.namespace = store.namespace

    async def put(self, namespace: str, key: str, value: str | None) -> None:
        """Set a value; None makes the namespace only."""
        try:
            await self._store.put(namespace, key, value)
        except KvStoreError as e:
            raise PortError(str(e)) from e

    async def delete(self, namespace: str, key: str) -> None:
        """Remove a value, if there is one."""
        try:
            await self._store.delete(namespace, key)
        except KvStoreError as e:
            raise PortError(str(e)) from e


class Remoting:
    """The remoting port as the HTTP side knows it."""

    def __init__(self, server: Server) -> None:
        self._server = server

    @property
    def connections(self) -> int:
        """How many peers there are."""
        return self._server.connections

    @property
    def served(self) -> int:
        """How many look-ups were answered from their bytes."""
        return self._server.fastpath.served

    def link(self, connection: Hashable) -> Link | None:
        """How a peer is connected; None when it is gone."""
        if not isinstance(connection, Connection) or connection.closed:
            return None
        return Link(connection.remote, connection.encrypted, connection.peer.names)


class TlsDoor:
    """Lets connections in by the TLS mode."""

    def __init__(self, mode: TlsMode, tls: ReloadingTls | None) -> None:
        self._mode = mode
        self._tls = tls

    def admit(self, first_byte: int) -> Session | None:
        """A TLS session, None for plain traffic, or SessionError for neither."""
        verdict = judge(self._mode, first_byte, has_certificate=self._tls is not None)
        if verdict.refused:
            raise SessionError(verdict.value)
        if self._tls is None or verdict is Verdict.PLAIN:
            return None
        return _Session(self._tls.context)


class _Session(TlsSession):
    __slots__ = ()

    def feed(self, data: bytes) -> bytes:
        try:
            return super().feed(data)
        except TlsError as e:
            raise SessionError(str(e)) from e

    def encrypt(self, data: bytes) -> bytes:
        try:
            return super().encrypt(data)
        except TlsError as e:
            raise SessionError(str(e)) from e
