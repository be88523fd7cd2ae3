"""Headers of every answer, and the end of every error."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from signpost_namesrv import logs

from .problems import ProblemError, from_http

log = logs.get("http")

_ALWAYS = {
    "Server": "signpost",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_DEFAULTS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Tell browsers to be careful with everything that comes from here."""
    response.headers.update(_ALWAYS)
    for name, value in _DEFAULTS.items():
        response.headers.setdefault(name, value)


@web.middleware
async def problems(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Answer every error with a problem document."""
    try:
        return await handler(request)
    except ProblemError as e:
        return e.response(request.path)
    except web.HTTPException as e:
        return from_http(e).response(request.path)
    except ConnectionError:
        raise  # the client is gone: nobody to answer
    except Exception as e:  # a bug must cost one answer
        log.error("HTTP request failed", method=request.method, path=request.path, error=e)
        problem = ProblemError(500, "internal-error", f"a fault of the server: {type(e).__name__}")
        return problem.response(request.path)
