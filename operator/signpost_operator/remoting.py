"""What the operator says in the remoting protocol: take or give a broker's write permission.

Over HTTP the same would need the name servers' token, and so a right to read Secrets.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import struct
from contextlib import suppress

WIPE_WRITE_PERM = 205
ADD_WRITE_PERM = 327
SECONDS = 5.0
LARGEST = 1 << 20


class RemotingError(Exception):
    """A name server did not do it; says why in a few words."""


class BrokenError(RemotingError):
    """It was not understood at all: nobody there, or somebody who speaks something else."""


async def set_writable(host: str, port: int, broker: str, writable: bool) -> None:
    """On one name server. TLS is tried when a plain connection is refused."""
    code = ADD_WRITE_PERM if writable else WIPE_WRITE_PERM
    try:
        await _call(host, port, code, broker, None)
    except BrokenError as plain:
        context = ssl.create_default_context()
        # The pod was named by Kubernetes; nothing secret is said to it.
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        try:
            await _call(host, port, code, broker, context)
        except BrokenError:
            raise plain from None


async def _call(host: str, port: int, code: int, broker: str, tls: ssl.SSLContext | None) -> None:
    header = {
        "code": code,
        "language": "PYTHON",
        "version": 479,
        "opaque": 1,
        "flag": 0,
        "extFields": {"brokerName": broker},
        "serializeTypeCurrentRPC": "JSON",
    }
    data = json.dumps(header).encode()
    try:
        async with asyncio.timeout(SECONDS):
            reader, writer = await asyncio.open_connection(host, port, ssl=tls)
            try:
                writer.write(struct.pack(">ii", 4 + len(data), len(data)) + data)
                await writer.drain()
                length, size = struct.unpack(">ii", await reader.readexactly(8))
                if not 0 <= (size & 0xFFFFFF) <= length - 4 <= LARGEST:
                    raise BrokenError("its answer is not a remoting frame")
                answer = json.loads(await reader.readexactly(size & 0xFFFFFF))
            finally:
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()
    except (OSError, TimeoutError, EOFError, ValueError) as error:
        raise BrokenError(str(error) or "no answer in time") from error
    if answer.get("code") != 0:
        raise RemotingError(str(answer.get("remark") or f"code {answer.get('code')}"))
