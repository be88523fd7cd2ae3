"""The OpenAPI document, and the running server against it."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode, checks
from schemathesis.core.result import Ok

from signpost_namesrv.http.models import Nothing
from signpost_namesrv.http.service import ENDPOINTS

from .conftest import HOLDER, House

SECONDS = 10.0
BY_CALL = {(endpoint.method, endpoint.path): endpoint for endpoint in ENDPOINTS}


async def test_every_call_is_described(house: House) -> None:
    document = await house.get("/openapi.json")
    assert document["openapi"] == "3.1.0"
    described = {
        (method.upper(), path) for path, item in document["paths"].items() for method in item
    }
    assert described == set(BY_CALL)
    ids = [op["operationId"] for item in document["paths"].values() for op in item.values()]
    assert len(ids) == len(set(ids))


async def test_every_reference_leads_somewhere(house: House) -> None:
    document = await house.get("/openapi.json")
    schemas = document["components"]["schemas"]
    wanted = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert wanted <= set(schemas)
    assert "Problem" in wanted


async def test_writing_calls_ask_for_the_token(house: House) -> None:
    document = await house.get("/openapi.json")
    for item in document["paths"].values():
        for method, operation in item.items():
            if method != "get":
                assert operation["security"] == [{"token": []}]
                assert {"401", "403"} <= set(operation["responses"])


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a name server in a process of its own."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "tokens").write_text(HOLDER["Authorization"].removeprefix("Bearer "))
    flags = {
        "bindAddress": "127.0.0.1",
        "listenPort": "0",
        "httpPort": "0",
        "httpTokenFile": str(folder / "tokens"),
        "kvConfigPath": str(folder / "kv.json"),
        "logFormat": "json",
    }
    program = Path(sys.executable).parent / "signpost-namesrv"
    words = [word for key, value in flags.items() for word in (f"--{key}", value)]
    with (folder / "log").open("wb") as log:
        child = subprocess.Popen([program, *words], stdout=log, stderr=subprocess.STDOUT)
    try:
        yield f"http://127.0.0.1:{_port(folder / 'log', child)}"
        assert child.poll() is None, (folder / "log").read_text()
    finally:
        child.terminate()
        child.wait(timeout=20)


def _port(log: Path, child: "subprocess.Popen[bytes]") -> int:
    while child.poll() is None:
        time.sleep(0.05)
        for line in log.read_text().splitlines():
            if '"listening for HTTP"' in line:
                return int(json.loads(line)["port"])
    raise AssertionError(log.read_text())


CHECKS: list[Any] = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_the_server_keeps_to_its_description(running: str, mode: GenerationMode) -> None:
    schema = schemathesis.openapi.from_url(f"{running}/openapi.json")
    tried = 0
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        if operation.path == "/v1/watch":
            continue  # it has no end
        endpoint = BY_CALL[operation.method.upper(), operation.path]
        if mode is GenerationMode.NEGATIVE and {endpoint.params, endpoint.body} == {Nothing}:
            continue  # nothing to get wrong

        @settings(
            max_examples=15,
            derandomize=True,
            deadline=None,
            database=None,
            phases=(Phase.explicit, Phase.generate),
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def keeps(case: Any) -> None:
            if case.path == "/v1/changes":
                case.query.pop("wait", None)
            response = case.call(headers=HOLDER, timeout=SECONDS)
            if len(response.request.path_url) < 8000:  # longer ones aiohttp itself refuses
                case.validate_response(response, checks=CHECKS)

        keeps()
        tried += 1
    assert tried > 15
