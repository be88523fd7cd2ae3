"""When name servers disagree, and when it only looks so."""

from __future__ import annotations

from typing import Any

from signpost_operator.observe.ask import Asker, AskError, Reply
from signpost_operator.observe.pods import PodFacts
from signpost_operator.observe.sight import Watcher


def pod(name: str, ip: str = "", stopping: bool = False) -> PodFacts:
    return PodFacts(name, name, ip or name, True, stopping, (), (), "")


class Servers(Asker):
    """Name servers whose routes the test sets: topic to (broker, permission)."""

    def __init__(self) -> None:
        self.routes: dict[str, dict[str, tuple[str, int]]] = {}
        self.kv: dict[str, dict[str, dict[str, str]]] = {}
        self.cold: set[str] = set()
        self.down: set[str] = set()
        self.snapshots = 0

    def _digest(self, ip: str) -> str:
        return str(sorted(self.routes[ip].items()))

    async def status(self, ip: str) -> Reply:
        if ip in self.down:
            raise AskError("no answer")
        digest, kv = self._digest(ip), str(self.kv.get(ip, {}))
        return Reply(ip, digest, kv, ip not in self.cold, 1, len(self.routes[ip]))

    async def snapshot(self, ip: str) -> dict[str, Any]:
        self.snapshots += 1
        topics = {
            topic: [{"broker": broker, "perm": perm}]
            for topic, (broker, perm) in self.routes[ip].items()
        }
        groups = {broker: {"name": broker} for broker, _ in self.routes[ip].values()}
        return {
            "digest": self._digest(ip),
            "kv_digest": str(self.kv.get(ip, {})),
            "kv": self.kv.get(ip, {}),
            "topics": topics,
            "brokers": groups,
        }


def three(**routes: dict[str, tuple[str, int]]) -> tuple[Servers, Watcher, list[PodFacts]]:
    servers = Servers()
    servers.routes = dict(routes)
    return servers, Watcher(servers), [pod(name) for name in routes]


SAME = {"orders": ("b0", 6), "bills": ("b1", 4)}


async def test_equal_digests_agree_and_are_read_once() -> None:
    servers, watcher, pods = three(a=SAME, b=SAME, c=SAME)
    assert await watcher.beat(pods)
    assert not await watcher.beat(pods)
    sight = watcher.sight
    assert (sight.agreement, servers.snapshots) == ("same", 1)
    assert sight.knows == {"b0": {"a", "b", "c"}, "b1": {"a", "b", "c"}}
    assert sight.writable == {"b0"}


async def test_a_difference_is_told_when_it_lasts() -> None:
    _, watcher, pods = three(a=SAME, b={"orders": ("b0", 6)}, c=SAME)
    seen = []
    for _ in range(2):
        await watcher.beat(pods)
        seen.append(watcher.sight.agreement)
    assert seen == ["settling", "differ"]
    assert watcher.sight.lasting.topics == {"bills"}
    assert watcher.sight.lasting.brokers == {"b1"}
    assert watcher.sight.knows["b1"] == {"a", "c"}


async def test_routes_that_only_change_quickly_do_not_count() -> None:
    servers, watcher, pods = three(a=SAME, b=SAME)
    for number in range(4):
        servers.routes["a"] = SAME | {f"t{number}": ("b0", 6)}
        await watcher.beat(pods)
        assert watcher.sight.agreement == "settling"
    servers.routes["a"] = SAME
    await watcher.beat(pods)
    assert watcher.sight.agreement == "same"


async def test_a_server_that_is_cold_leaving_or_down_is_not_compared() -> None:
    servers, watcher, pods = three(a=SAME, b={}, c=SAME, d={})
    servers.cold = {"b"}
    servers.down = {"c"}
    pods[3] = pod("d", stopping=True)
    for _ in range(3):
        await watcher.beat(pods)
    assert watcher.sight.agreement == "same"
    assert watcher.sight.failures == {"c": "no answer"}
    assert set(watcher.sight.replies) == {"a", "b"}


async def test_nobody_answers() -> None:
    servers, watcher, pods = three(a=SAME)
    servers.down = {"a"}
    await watcher.beat(pods)
    assert watcher.sight.agreement == "unknown"


async def test_kv_is_known_only_when_all_agree() -> None:
    servers, watcher, pods = three(a=SAME, b=SAME)
    servers.kv = {"a": {"n": {"k": "v"}}, "b": {"n": {"k": "v"}}}
    await watcher.beat(pods)
    assert watcher.sight.kv == {"n": {"k": "v"}}
    servers.kv["b"] = {}
    await watcher.beat(pods)
    assert watcher.sight.kv is None
    assert watcher.sight.agreement == "same"
