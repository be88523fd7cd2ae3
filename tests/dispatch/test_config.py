"""KV configuration, the server's own settings, and who may change them."""

from ipaddress import ip_network

import pytest

from signpost_namesrv.dispatch.dispatcher import ADMINISTRATIVE, HANDLERS
from signpost_namesrv.dispatch.state import Access, Peer
from tests.support.world import World


def test_kv() -> None:
    world = World()
    entry = {"namespace": "n", "key": "k"}
    missing = world.ask(101, entry)
    assert missing.code == 22
    assert world.ask(219, {"namespace": "n"}).code == 22
    assert world.ask(100, entry | {"value": "v"}).code == 0
    assert world.ask(101, entry).fields == {"value": "v"}
    assert world.ask(219, {"namespace": "n"}).json() == {"table": {"k": "v"}}
    assert world.ask(102, entry).code == 0
    assert world.ask(101, entry).code == 22


@pytest.mark.parametrize("fields", [None, {}, {"namespace": "n"}, {"key": "k"}])
def test_kv_without_its_fields(fields: dict[str, str] | None) -> None:
    world = World()
    assert world.ask(100, fields).code == 1
    assert world.ask(101, fields).code == 22
    assert world.ask(102, fields).code == 0
    assert world.ask(219, None).code == 22
    assert world.kv.table == {}


def test_a_kv_write_that_fails_is_told() -> None:
    world = World()
    entry = {"namespace": "broken", "key": "k", "value": "v"}
    for code in (100, 102):
        answer = world.ask(code, entry)
        assert (answer.code, answer.remark) == (1, "the disk is full")


def test_settings() -> None:
    world = World()
    assert world.ask(319).body == b"listenPort=9876\n"
    assert world.ask(318, body=b"a=b").code == 0
    assert world.config.updates == ["a=b"]
    assert world.ask(318, body=b"forbidden=b").code == 16
    assert world.ask(318, body=b"\xff").code == 1
    assert world.ask(318).code == 0
    assert world.config.updates == ["a=b"]


@pytest.mark.parametrize(
    ("networks", "names", "address", "certificate", "allowed"),
    [
        ([], [], "203.0.113.9", (), True),
        (["10.0.0.0/8"], [], "10.1.2.3", (), True),
        (["10.0.0.0/8"], [], "11.0.0.1", (), False),
        (["10.0.0.0/8"], [], "::ffff:10.1.2.3", (), True),
        (["10.0.0.0/8"], [], "::ffff:11.0.0.1", (), False),
        (["10.0.0.0/8"], [], "::1", (), False),
        (["::1/128"], [], "::1", (), True),
        (["fe80::/10"], [], "fe80::1%eth0", (), True),
        (["0.0.0.0/0"], [], "", (), False),
        (["0.0.0.0/0"], [], "no address", (), False),
        ([], ["admin"], "10.1.2.3", (), False),
        ([], ["admin"], "10.1.2.3", ("broker",), False),
        ([], ["admin"], "10.1.2.3", ("broker", "admin"), True),
        (["10.0.0.0/8"], ["admin"], "11.0.0.1", ("admin",), True),
        (["10.0.0.0/8"], ["admin"], "10.0.0.1", (), True),
    ],
)
def test_who_may_administrate(
    networks: list[str],
    names: list[str],
    address: str,
    certificate: tuple[str, ...],
    allowed: bool,
) -> None:
    world = World(access=Access(tuple(map(ip_network, networks)), frozenset(names)))
    world.peer = Peer("connection", address, certificate)
    assert world.state.access.allows(world.peer) is allowed
    for code in HANDLERS:
        refused = world.ask(code, {"namespace": "n", "key": "k", "value": "v"}).code == 16
        assert refused == (code in ADMINISTRATIVE and not allowed), code
    assert ("n" in world.kv.table) is allowed
