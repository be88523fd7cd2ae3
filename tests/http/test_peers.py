"""Name servers that compare themselves with each other; the address list."""

from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from signpost_namesrv.http import PeerOptions
from signpost_namesrv.http.peerwatch import PEERS, PeerWatch
from tests.server.harness import until

from .conftest import House, OpenHouse

NAMES = [f"topic-{n:04d}" for n in range(600)]


def url_of(house: House) -> str:
    return str(house.client.make_url("")).rstrip("/")


def watch_of(house: House) -> PeerWatch:
    assert house.client.app is not None
    peers: PeerWatch = house.client.app[PEERS]
    return peers


async def pair(open_house: OpenHouse, **options: Any) -> tuple[House, House]:
    """Two name servers, the first of which watches both (itself it finds out)."""
    there = await open_house()
    here = await open_house(
        peers=PeerOptions(urls=(url_of(there),), poll=3600, disagree_after=35), **options
    )
    return here, there


async def test_agreement_difference_and_disagreement(open_house: OpenHouse) -> None:
    here, there = await pair(open_house)
    for house in (here, there):
        house.register("a", ["T", "U"])
    await watch_of(here).poll()
    document = await here.get("/v1/peers")
    assert document["configured"] is True
    assert document["agree"] is True
    assert document["self"]["identity"] == here.context.identity
    (peer,) = document["peers"]
    assert peer["state"] == "agrees"
    assert peer["identity"] == there.context.identity
    assert peer["revision"] == there.tables.revision
    assert peer["differs_since_ms"] is None

    there.register("a", ["T", "U", "V"], counter=2)
    since = here.clock()
    for state, agree in (("differs", True), ("differs", True), ("disagrees", False)):
        await watch_of(here).poll()
        document = await here.get("/v1/peers")
        (peer,) = document["peers"]
        assert (peer["state"], document["agree"]) == (state, agree)
        assert peer["routes_differ"] is True
        assert peer["kv_differ"] is False
        assert peer["differs_since_ms"] == since
        here.clock.ms += 20_000

    here.register("a", ["T", "U", "V"], counter=2)
    await watch_of(here).poll()
    document = await here.get("/v1/peers")
    assert document["agree"] is True
    assert document["peers"][0]["state"] == "agrees"


async def test_kv_counts_too(open_house: OpenHouse) -> None:
    here, there = await pair(open_house)
    await there.state.kv.put("n", "k", "v")
    await watch_of(here).poll()
    (peer,) = (await here.get("/v1/peers"))["peers"]
    assert (peer["routes_differ"], peer["kv_differ"], peer["state"]) == (False, True, "differs")


async def test_a_peer_that_warms_up_does_not_disagree(open_house: OpenHouse) -> None:
    there = await open_house(warm=False)
    here = await open_house(peers=PeerOptions(urls=(url_of(there),), poll=3600))
    here.register("a", ["T", "U"])
    for _ in range(2):
        await watch_of(here).poll()
        here.clock.ms += 60_000
    (peer,) = (await here.get("/v1/peers"))["peers"]
    assert (peer["state"], peer["differs_since_ms"]) == ("not ready", None)


async def test_the_server_itself_is_no_peer(open_house: OpenHouse) -> None:
    here = await open_house(peers=PeerOptions(service="localhost", default_port=1, poll=3600))
    port = here.client.make_url("").port
    watch = watch_of(here)
    await until(lambda: any(peer.error for peer in watch.peers))  # its own first round is over
    watch._options = PeerOptions(service=f"127.0.0.1:{port}", poll=3600)
    await watch.poll()
    document = await here.get("/v1/peers")
    assert document["peers"] == []
    assert document["configured"] is True


async def test_a_peer_that_is_not_there(open_house: OpenHouse) -> None:
    here, there = await pair(open_house)
    await watch_of(here).poll()
    await there.client.server.close()
    await watch_of(here).poll()
    (peer,) = (await here.get("/v1/peers"))["peers"]
    assert peer["state"] == "unreachable"
    assert peer["error"]
    problem = await here.get(f"/v1/peers/{peer['name']}/diff", 502)
    assert problem["type"] == "urn:signpost:problem:peer-failed"


async def test_the_diff_names_what_differs(open_house: OpenHouse) -> None:
    here, there = await pair(open_house)
    for house in (here, there):
        house.register("a", NAMES)
    here.register("h", ["only-here", NAMES[0]])
    there.register("t", ["only-there", NAMES[1]], zone="z")
    await here.state.kv.put("n", "k", "here")
    await watch_of(here).poll()
    (peer,) = (await here.get("/v1/peers"))["peers"]
    diff = await here.get(f"/v1/peers/{peer['name']}/diff")
    assert diff["same"] is False
    assert diff["revision_there"] == there.tables.revision
    assert {d["name"] for d in diff["tables"]["topics"]["shown"]} == {
        "only-here",
        "only-there",
        NAMES[0],
        NAMES[1],
    }
    brokers = {d["name"]: d for d in diff["tables"]["brokers"]["shown"]}
    assert set(brokers) == {"h", "t"}
    assert brokers["h"]["there"] is None
    assert brokers["t"]["here"] is None
    assert brokers["t"]["there"]["zone"] == "z"
    assert diff["tables"]["clusters"]["count"] == 1
    assert diff["tables"]["kv"]["shown"] == [{"name": "n", "here": {"k": "here"}, "there": None}]


async def test_a_large_diff_is_counted_and_cut(open_house: OpenHouse) -> None:
    here, there = await pair(open_house)
    here.register("a", NAMES)
    await watch_of(here).poll()
    (peer,) = (await here.get("/v1/peers"))["peers"]
    diff = await here.get(f"/v1/peers/{peer['name']}/diff")
    assert diff["tables"]["topics"]["count"] == len(NAMES)
    assert len(diff["tables"]["topics"]["shown"]) == 100
    there.register("a", NAMES)
    assert (await here.get(f"/v1/peers/{peer['name']}/diff"))["same"] is True


async def test_comparisons_are_few_at_a_time(open_house: OpenHouse) -> None:
    here, _ = await pair(open_house, max_diffs=1)
    await watch_of(here).poll()
    (peer,) = (await here.get("/v1/peers"))["peers"]
    watch_of(here).comparing = 1
    await here.get(f"/v1/peers/{peer['name']}/diff", 503)
    watch_of(here).comparing = 0
    await here.get(f"/v1/peers/{peer['name']}/diff")
    assert watch_of(here).comparing == 0


async def test_an_unknown_peer(house: House) -> None:
    await house.get("/v1/peers/10.0.0.1:8080/diff", 404)
    assert (await house.get("/v1/peers"))["configured"] is False


async def test_a_peer_that_talks_nonsense(open_house: OpenHouse) -> None:
    async def nonsense(request: web.Request) -> web.Response:
        return web.Response(text='{"identity":')

    async def huge(request: web.Request) -> web.Response:
        return web.Response(text="x" * 100_000)

    for handler in (nonsense, huge):
        app = web.Application()
        app.router.add_get("/{any:.*}", handler)
        server = TestServer(app)
        await server.start_server()
        url = str(server.make_url("")).rstrip("/")
        here = await open_house(peers=PeerOptions(urls=(url,), poll=3600))
        await watch_of(here).poll()
        (peer,) = (await here.get("/v1/peers"))["peers"]
        assert peer["state"] == "unreachable"
        await here.get(f"/v1/peers/{peer['name']}/diff", 502)
        await server.close()


async def test_closed_readers_know_each_other_by_token(open_house: OpenHouse) -> None:
    there = await open_house(reads_need_token=True)
    here = await open_house(peers=PeerOptions(urls=(url_of(there),), poll=3600))
    await watch_of(here).poll()
    (peer,) = (await here.get("/v1/peers"))["peers"]
    assert peer["state"] == "agrees"


async def addresses(house: House, path: str = "/rocketmq/nsaddr") -> tuple[int, str]:
    async with house.client.get(path) as response:
        return response.status, await response.text()


async def test_the_address_list_has_the_ready_ones_in_order(open_house: OpenHouse) -> None:
    cold = await open_house(warm=False)
    warm = await open_house()
    urls = (url_of(warm), url_of(cold))
    here = await open_house(advertise_address="10.1.2.3", peers=PeerOptions(urls=urls, poll=3600))
    await watch_of(here).poll()
    both = f"10.1.2.3:{here.port};127.0.0.1:{warm.port}"
    for path in ("", "?nofix=1", "-unit1", "-unit1?nofix=1&other=2&"):
        assert await addresses(here, f"/rocketmq/nsaddr{path}") == (200, both)
    here.state.draining = True
    assert await addresses(here) == (200, f"127.0.0.1:{warm.port}")
    await warm.client.server.close()
    await watch_of(here).poll()
    assert (await addresses(here))[0] == 200  # one lost answer moves nobody
    await watch_of(here).poll()
    assert (await addresses(here))[0] == 503  # and an empty list nobody gets


async def test_an_ipv6_address_stands_in_brackets(open_house: OpenHouse) -> None:
    here = await open_house(advertise_address="fd00::1")
    assert await addresses(here) == (200, f"[fd00::1]:{here.port}")
