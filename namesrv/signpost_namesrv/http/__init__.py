"""The HTTP side: the same tables for people, dashboards, the operator and other programs.

One module per resource, each with its models, its handlers and a table of its endpoints; the
OpenAPI document is made from those tables.
"""

from .context import Context, Link
from .options import Options, PeerOptions
from .service import HttpService

__all__ = ["Context", "HttpService", "Link", "Options", "PeerOptions"]
