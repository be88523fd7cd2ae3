"""The client of the Kubernetes API: patient where that helps, honest where it does not."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from signpost_operator.api import (
    Api,
    BusyError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    UnreachableError,
)
from signpost_operator.api import client as module
from signpost_operator.api.kinds import POD

Answer = tuple[int, object]


class Script:
    """An API server that gives prepared answers, and remembers who asked."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.headers: dict[str, str] = {}
        self.tokens: list[str] = []
        self.paths: list[str] = []

    async def handle(self, request: web.Request) -> web.Response:
        self.tokens.append(request.headers.get("Authorization", ""))
        self.paths.append(request.path_qs)
        status, body = self.answers.pop(0)
        return web.json_response(body, status=status, headers=self.headers)


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
async def server(script: Script) -> AsyncIterator[TestServer]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", script.handle)
    server = TestServer(app)
    async with server:
        yield server


@pytest.fixture
def kubeconfig(
    server: TestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], None]:
    """Writes a kubeconfig with a token."""
    path = tmp_path / "kubeconfig"
    monkeypatch.setenv("KUBECONFIG", str(path))
    monkeypatch.setattr(module, "FIRST_WAIT", 0.001)

    def write(token: str) -> None:
        url = str(server.make_url("")).rstrip("/")
        document = {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": url}}],
            "users": [{"name": "u", "user": {"token": token}}],
        }
        path.write_text(json.dumps(document))

    write("first")
    return write


async def test_a_busy_server_is_asked_again(
    script: Script, kubeconfig: Callable[[str], None]
) -> None:
    script.answers = [(429, {}), (503, {}), (200, {"kind": "Pod"})]
    script.headers = {"Retry-After": "0"}
    async with Api() as api:
        assert await api.get("/x") == {"kind": "Pod"}
    assert len(script.paths) == 3


async def test_patience_ends(script: Script, kubeconfig: Callable[[str], None]) -> None:
    script.answers = [(503, {"message": "not now"})] * module.TRIES
    async with Api() as api:
        with pytest.raises(BusyError, match="not now"):
            await api.get("/x")
    assert script.answers == []


@pytest.mark.parametrize(
    ("call", "tries"),
    [
        (lambda api: api.patch("/x", {}, module.APPLY), module.TRIES),
        (lambda api: api.create("/x", {}), 1),
        (lambda api: api.replace("/x", {}), 1),
    ],
)
async def test_only_a_patch_can_outlast_a_conflict(
    script: Script,
    kubeconfig: Callable[[str], None],
    call: Callable[[Api], Awaitable[object]],
    tries: int,
) -> None:
    script.answers = [(409, {"message": "changed meanwhile"})] * 10
    async with Api() as api:
        with pytest.raises(ConflictError, match="changed meanwhile"):
            await call(api)
    assert len(script.paths) == tries


async def test_a_refused_token_is_read_anew(
    script: Script, kubeconfig: Callable[[str], None]
) -> None:
    async with Api() as api:
        script.answers = [(200, {})]
        await api.get("/x")
        kubeconfig("second")
        script.answers = [(401, {}), (200, {"a": 1})]
        assert await api.get("/x") == {"a": 1}
    assert script.tokens == ["Bearer first", "Bearer first", "Bearer second"]


@pytest.mark.parametrize(
    ("status", "error"), [(403, ForbiddenError), (404, NotFoundError), (401, Exception)]
)
async def test_what_will_not_change_is_not_asked_again(
    script: Script,
    kubeconfig: Callable[[str], None],
    status: int,
    error: type[Exception],
) -> None:
    script.answers = [(status, {"message": "no"})] * 5
    async with Api() as api:
        with pytest.raises(error, match="no"):
            await api.get("/x")
    assert len(script.paths) <= 2


async def test_lists_come_page_by_page(script: Script, kubeconfig: Callable[[str], None]) -> None:
    script.answers = [
        (200, {"items": [{"n": 1}, {"n": 2}], "metadata": {"continue": "more"}}),
        (200, {"items": [{"n": 3}], "metadata": {}}),
    ]
    async with Api() as api:
        found = [item["n"] async for item in api.list(POD, "ns", "a=b")]
    assert found == [1, 2, 3]
    assert "labelSelector=a%3Db" in script.paths[0]
    assert "continue=more" in script.paths[1]


async def test_deleting_what_is_gone_is_no_error(
    script: Script, kubeconfig: Callable[[str], None]
) -> None:
    script.answers = [(404, {})]
    async with Api() as api:
        await api.delete("/x", {})


async def test_nobody_answers(server: TestServer, kubeconfig: Callable[[str], None]) -> None:
    await server.close()
    async with Api() as api:
        with pytest.raises(UnreachableError, match="GET /x"):
            await api.get("/x")


async def test_calls_are_counted(script: Script, kubeconfig: Callable[[str], None]) -> None:
    counted: list[tuple[str, int]] = []
    script.answers = [(429, {}), (200, {})]
    script.headers = {"Retry-After": "0"}
    async with Api(lambda verb, status: counted.append((verb, status))) as api:
        await api.get("/x")
    assert counted == [("GET", 429), ("GET", 200)]
