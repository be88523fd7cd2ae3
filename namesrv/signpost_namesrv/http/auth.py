"""Who may write, and who may read when that is closed: bearer tokens from a file.

One token on each line, so that a new one can be handed out before the old one goes. The file is
read again when it changes; one that cannot be read lets nobody in.
"""

import asyncio
import enum
import hashlib
import hmac
from pathlib import Path

from aiohttp import web

from signpost_namesrv import logs
from signpost_namesrv.filewatch import FileWatch

from .context import CONTEXT
from .problems import ProblemError

log = logs.get("http")

SHORTEST = 16
_MOST_BYTES = 64 * 1024


class Access(enum.Enum):
    """Who may call."""

    OPEN = "everybody, always"
    READ = "everybody, unless reading needs a token"
    WRITE = "holders of a token"


class Tokens:
    """The tokens that count now."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        # Before the first reading: a change in between is then seen by the first poll.
        self._watch = FileWatch([path] if path else [])
        self._tokens: tuple[str, ...] = ()
        self._digests: tuple[bytes, ...] = ()
        self._load()

    @property
    def own(self) -> str | None:
        """What this server shows to its peers, which have the same file."""
        return self._tokens[0] if self._tokens else None

    def poll(self) -> bool:
        """Read the file again if it changed. Blocks."""
        changed = self._watch.changed()
        if changed:
            self._load()
        return changed

    def admit(self, access: Access, header: str | None, reads_need_token: bool) -> None:
        """Let the holder of a token in; ProblemError for others."""
        if access is Access.OPEN or (access is Access.READ and not reads_need_token):
            return
        if not self._digests:
            why = "no token is configured" if self._path is None else f"{self._path} holds none"
            raise ProblemError(
                403,
                "writing-is-off" if access is Access.WRITE else "reading-is-off",
                f"{why}: put a token of at least {SHORTEST} characters into a file and name "
                "it with httpTokenFile (SIGNPOST_HTTP_TOKEN_FILE)",
            )
        scheme, _, token = (header or "").partition(" ")
        if scheme.lower() != "bearer" or not self._knows(token.strip()):
            given = "is missing" if header is None else "holds no token that is known here"
            raise ProblemError(
                401,
                "token-needed",
                f"the Authorization header {given}; send 'Authorization: Bearer TOKEN' with a "
                "token from the file of httpTokenFile",
                headers={"WWW-Authenticate": 'Bearer realm="signpost"'},
            )

    def _knows(self, token: str) -> bool:
        """Whether it is one of them, in a time that does not depend on how much of it is right."""
        digest = _digest(token)
        matches = [hmac.compare_digest(digest, known) for known in self._digests]
        return any(matches)

    def _load(self) -> None:
        tokens = _read(self._path) if self._path else ()
        good = tuple(token for token in tokens if len(token) >= SHORTEST)
        if len(good) < len(tokens):
            log.warning("tokens ignored: too short", path=self._path, count=len(tokens) - len(good))
        self._tokens, self._digests = good, tuple(map(_digest, good))
        if self._path:
            log.info("tokens read", path=self._path, count=len(good))


TOKENS = web.AppKey("tokens", Tokens)


async def follow_tokens(app: web.Application) -> None:
    """Look at the token file every few seconds."""
    while True:
        await asyncio.sleep(app[CONTEXT].options.token_poll)
        await asyncio.to_thread(app[TOKENS].poll)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogateescape")).digest()


def _read(path: Path) -> tuple[str, ...]:
    try:
        with path.open("rb") as file:
            lines = file.read(_MOST_BYTES).decode(errors="replace").splitlines()
    except OSError as e:
        log.error("token file cannot be read: nobody may write", path=path, reason=e.strerror)
        return ()
    stripped = (line.strip() for line in lines)
    return tuple(line for line in stripped if line and not line.startswith("#"))
