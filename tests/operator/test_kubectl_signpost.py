"""`kubectl signpost` before two real name servers; only kubectl itself is played."""

import json
import os
import socket
import subprocess
import sys
import textwrap
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from signpost_operator import names
from signpost_operator.kubectl_signpost import main

TOKEN = "a-token-for-the-tests"
CLUSTER = {"metadata": {"name": "routes", "namespace": "mq"}, "spec": {}}
PLAYED = """\
    #!{python}
    import json, pathlib, re, sys, urllib.error, urllib.request
    here = pathlib.Path(__file__).parent
    words = [w for w in sys.argv[1:] if not w.startswith("--namespace=mq")]
    with (here / "calls").open("a") as calls:
        calls.write(json.dumps(words) + "\\n")
    world = json.loads((here / "world").read_text())
    if words[0] == "exec":
        sys.exit(0)
    if raw := re.fullmatch(r"--raw=/api/v1/namespaces/mq/pods/([^:]+):8080/proxy(.*)", words[1]):
        try:
            print(urllib.request.urlopen(world["urls"][raw[1]] + raw[2]).read().decode())
        except urllib.error.HTTPError as e:
            sys.exit(f"Error from server: {{e.code}}")
        sys.exit(0)
    found = world[words[1]]
    named = [w for w in words[2:] if not w.startswith("-")]
    found = [o for o in found if not named or o["metadata"]["name"] in named]
    wanted = [w.partition("=")[2] for w in words if w.startswith("--selector=")]
    for label in wanted[0].split(",") if wanted else ():
        key, _, value = label.partition("=")
        labelled = [o["metadata"].get("labels", {{}}) for o in found]
        found = [
            o for o, labels in zip(found, labelled)
            if (labels.get(key) == value if value else key in labels)
        ]
    print(json.dumps({{"items": found}}))
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as made:
        return int(made.getsockname()[1])


class Server:
    """A name server of its own process."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "tokens").write_text(TOKEN)
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        settings = {
            "listenPort": "0",
            "bindAddress": "127.0.0.1",
            "httpPort": str(port),
            "kvConfigPath": str(folder / "kv.json"),
            "httpTokenFile": str(folder / "tokens"),
        }
        words = [word for key, value in settings.items() for word in (f"--{key}", value)]
        with (folder / "log").open("wb") as log:
            self.child = subprocess.Popen(
                [sys.executable, "-m", "signpost_namesrv", *words], stdout=log, stderr=log
            )
        deadline = time.monotonic() + 60
        while not self._ready():
            assert self.child.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def _ready(self) -> bool:
        try:
            return bool(urllib.request.urlopen(f"{self.url}/readyz", timeout=5).status == 200)
        except OSError:
            return False

    def register(self, broker: str, **topics: dict[str, int]) -> None:
        # A first registration with a single topic is refused, as on the wire.
        body = {"address": "10.0.0.1:10911", "topics": {broker: {}} | topics}
        request = urllib.request.Request(
            f"{self.url}/v1/brokers/C/{broker}/0",
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
            method="PUT",
        )
        with urllib.request.urlopen(request, timeout=10):
            pass

    def stop(self) -> None:
        self.child.terminate()
        self.child.wait(30)


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[Server]]:
    made: list[Server] = []
    try:
        made.append(Server(tmp_path / "one"))
        made.append(Server(tmp_path / "two"))
        yield made
    finally:
        for each in made:
            each.stop()


Play = Callable[..., Path]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Puts a kubectl on the PATH that knows a few objects; gives its folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "kubectl"
    script.write_text(textwrap.dedent(PLAYED).format(python=sys.executable))
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def put(**world: Any) -> Path:
        (folder / "world").write_text(json.dumps(world))
        return folder

    return put


def pod(name: str, labels: dict[str, str], ip: str = "10.0.0.9") -> dict[str, Any]:
    meta = {"name": name, "namespace": "mq", "labels": labels}
    return {"metadata": meta, "status": {"podIP": ip}}


def name_servers(servers: list[Server]) -> dict[str, Any]:
    labels = names.selector("routes", names.NAMESRV)
    return {
        "nameserverclusters": [CLUSTER],
        "pods": [pod(f"ns-{n}", labels) for n in range(len(servers))],
        "urls": {f"ns-{n}": server.url for n, server in enumerate(servers)},
    }


def test_routes_and_diff(
    servers: list[Server], play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    play(**name_servers(servers))
    for server in servers:
        server.register("orders-0", **{"%RETRY%group": {"read": 4, "write": 2}})
    assert main(["routes", "%RETRY%group"]) == 0
    assert capsys.readouterr().out == (
        "ns-0, ns-1:\n  orders-0  4/2 queues  rw  0=10.0.0.1:10911\n"
    )
    assert main(["diff", "--namespace=mq"]) == 0
    assert "All tell the same." in capsys.readouterr().out

    servers[1].register("orders-1", late={"perm": 4})
    assert main(["diff"]) == 1
    said = capsys.readouterr().out
    assert "broker orders-1\n  ns-0  unknown\n  ns-1  C: 0=10.0.0.1:10911\n" in said
    assert "topic late\n  ns-0  unknown\n  ns-1  orders-1: 16 to read, 16 to write, r-\n" in said
    assert main(["routes", "late"]) == 1
    said = capsys.readouterr().out
    assert "ns-0:\n  Error from server: 404" in said
    assert "The name servers do not agree." in said
    assert main(["routes", "nowhere"]) == 1


STATUS = {
    "ready": "2/3",
    "summary": "1 of 3 name servers is missing",
    "addresses": {"internal": "routes-namesrv.mq.svc:9876"},
    "conditions": [
        {
            "type": "Ready",
            "status": "False",
            "reason": "NotAllReady",
            "message": "2 of 3",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        },
        {
            "type": "RouteHealthy",
            "status": "Unknown",
            "reason": "NoReport",
            "message": "none",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        },
    ],
    "endpoints": [{"name": "ns-0", "address": "10.0.0.9:9876", "ready": True}],
}


def a_broker(name: str, **writable: bool) -> dict[str, Any]:
    groups = [
        {"name": f"{name}-{n}", "phase": "Serving", "writable": value, "knownTo": "3/3"}
        for n, value in enumerate(writable.values())
    ]
    return {
        "metadata": {"name": name, "namespace": "mq"},
        "spec": {"nameServerCluster": {"name": "routes"}},
        "status": {"ready": "2/2", "summary": "serving", "groupStatus": groups},
    }


def test_status(play: Play, capsys: pytest.CaptureFixture[str]) -> None:
    play(
        nameserverclusters=[CLUSTER | {"status": STATUS}],
        brokers=[a_broker("orders", a=True, b=False)],
    )
    assert main(["status"]) == 0
    assert capsys.readouterr().out == textwrap.dedent("""\
        NameServerCluster mq/routes: 2/3 ready, 1 of 3 name servers is missing
          clients: routes-namesrv.mq.svc:9876
          Ready is False since 2026-01-01T00:00:00Z: 2 of 3
          ns-0  10.0.0.9:9876  ready  -
          Broker mq/orders: 2/2 ready, serving
            orders-0  Serving  writable   known to 3/3
            orders-1  Serving  read-only  known to 3/3

        """)
    assert main(["status", "other"]) == 2
    assert "no NameServerCluster other" in capsys.readouterr().err


def test_status_of_what_the_operator_has_not_seen(
    play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    play(nameserverclusters=[CLUSTER], brokers=[])
    assert main(["status", "-A"]) == 0
    assert "mq/routes: ? ready, not seen by the operator yet" in capsys.readouterr().out


GROUP = {names.GROUP_LABEL: "orders-0"}


@pytest.mark.parametrize(
    ("asked", "drained"),
    [
        ("orders-0", ["orders-0-1", "orders-0-0"]),
        ("orders-0-1", ["orders-0-1"]),
    ],
)
def test_drain(play: Play, asked: str, drained: list[str]) -> None:
    folder = play(
        pods=[pod("orders-0-0", GROUP), pod("orders-0-1", GROUP), pod("other", {})],
        brokers=[a_broker("orders", a=True, b=True)],
    )
    assert main(["drain", asked]) == 0
    calls = [json.loads(line) for line in (folder / "calls").read_text().splitlines()]
    assert [call for call in calls if call[0] == "exec"] == [
        ["exec", name, "--container=sidecar", "--", "signpost-sidecar", "drain"] for name in drained
    ]


def test_the_last_writable_group_is_not_drained_unasked(
    play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = play(
        pods=[pod("orders-0-0", GROUP)],
        brokers=[a_broker("orders", a=True, b=False), a_broker("else", a=True)],
    )
    assert main(["drain", "orders-0"]) == 0
    play(pods=[pod("orders-0-0", GROUP)], brokers=[a_broker("orders", a=True, b=False)])
    (folder / "calls").unlink()
    assert main(["drain", "orders-0"]) == 1
    assert "the last group that can be written to" in capsys.readouterr().out
    assert "exec" not in (folder / "calls").read_text()
    assert main(["drain", "orders-0", "--force"]) == 0
    assert "exec" in (folder / "calls").read_text()


@pytest.mark.parametrize(
    ("words", "world", "said"),
    [
        (["diff"], {"nameserverclusters": []}, "which NameServerCluster? There is: none"),
        (["diff"], {"nameserverclusters": [CLUSTER], "pods": []}, "no name server that runs"),
        (["drain", "x"], {"pods": []}, "no broker group and no broker's pod x"),
    ],
)
def test_what_cannot_be_found_out(
    play: Play,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    world: dict[str, Any],
    said: str,
) -> None:
    play(**world)
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_without_kubectl(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    assert main(["status"]) == 2
    assert "no kubectl on the PATH" in capsys.readouterr().err
