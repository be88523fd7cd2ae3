"""The two requests that the operator sends in the remoting protocol."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from signpost_operator.remoting import RemotingError, set_writable


@asynccontextmanager
async def answering(reply: bytes | dict[str, Any]) -> AsyncIterator[tuple[int, list[Any]]]:
    """A name server that gives one answer to everything."""
    heard: list[Any] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        data = await reader.read(65536)
        with suppress(ValueError):
            heard.append(json.loads(data[8:]))
        data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        frame = struct.pack(">ii", 4 + len(data), len(data)) + data
        writer.write(data if isinstance(reply, bytes) else frame)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], heard


@pytest.mark.parametrize(("writable", "code"), [(False, 205), (True, 327)])
async def test_a_permission_is_set(writable: bool, code: int) -> None:
    async with answering({"code": 0, "extFields": {"wipeTopicCount": "3"}}) as (port, heard):
        await set_writable("127.0.0.1", port, "b-0", writable)
    [request] = heard
    assert (request["code"], request["extFields"]) == (code, {"brokerName": "b-0"})


async def test_a_refusal_is_told() -> None:
    async with answering({"code": 16, "remark": "not from there"}) as (port, _):
        with pytest.raises(RemotingError, match="not from there"):
            await set_writable("127.0.0.1", port, "b-0", False)


@pytest.mark.parametrize(
    "reply", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", struct.pack(">ii", 1 << 30, 4) + b"{}{}"]
)
async def test_no_remoting_protocol_is_told(reply: bytes) -> None:
    async with answering(reply) as (port, _):
        with pytest.raises(RemotingError):
            await set_writable("127.0.0.1", port, "b-0", False)


async def test_nobody_there_is_told() -> None:
    with pytest.raises(RemotingError):
        await set_writable("127.0.0.1", 1, "b-0", False)
