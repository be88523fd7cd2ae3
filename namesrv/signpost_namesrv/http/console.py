"""The console: a few files from this package, served from memory."""

import hashlib
from pathlib import Path

from aiohttp import web

_FOLDER = Path(__file__).parent / "console"
_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
)


def add_console(app: web.Application, folder: Path = _FOLDER) -> None:
    """Serve each file by its name, and index.html at `/`."""
    for file in sorted(folder.glob("*")):
        if file.suffix in _TYPES:
            path = "/" if file.name == "index.html" else f"/{file.name}"
            app.router.add_get(path, _File(file.read_bytes(), _TYPES[file.suffix]).serve)


class _File:
    def __init__(self, data: bytes, content_type: str) -> None:
        self._data = data
        self._type = content_type
        self._etag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'

    async def serve(self, request: web.Request) -> web.Response:
        """The file, or that it has not changed. It holds no routes, so it needs no token."""
        headers = {
            "ETag": self._etag,
            "Cache-Control": "no-cache",
            "Content-Security-Policy": _POLICY,
        }
        if request.headers.get("If-None-Match") == self._etag:
            return web.Response(status=304, headers=headers)
        return web.Response(
            body=self._data, content_type=self._type, charset="utf-8", headers=headers
        )
