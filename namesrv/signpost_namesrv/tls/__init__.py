"""TLS for the remoting port: sessions without I/O, contexts from files, reload."""

from .contexts import LoadedContext, load_client_context, load_context
from .errors import TlsConfigError, TlsError
from .files import ClientAuth, TlsClientFiles, TlsFiles, server_files
from .mode import TlsMode, Verdict, judge
from .reload import ReloadingTls, open_client_tls, open_server_tls
from .session import TlsSession

__all__ = [
    "ClientAuth",
    "LoadedContext",
    "ReloadingTls",
    "TlsClientFiles",
    "TlsConfigError",
    "TlsError",
    "TlsFiles",
    "TlsMode",
    "TlsSession",
    "Verdict",
    "judge",
    "load_client_context",
    "load_context",
    "open_client_tls",
    "open_server_tls",
    "server_files",
]
