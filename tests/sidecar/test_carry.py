"""A broker behind a sidecar, with real name servers of ours."""

from __future__ import annotations

from tests.sidecar.actors import Broker, servers, until
from tests.sidecar.conftest import Stage


async def test_a_registration_reaches_every_name_server(stage: Stage) -> None:
    reply = await stage.broker.register("T")
    assert (reply.code, reply.remark) == (0, None)
    assert all(server.queues("T") == {"a": (4, 4, 6)} for server in stage.servers)
    assert all(server.brokers() == {"a": {0: "10.0.0.1:10911"}} for server in stage.servers)


async def test_a_name_server_that_restarts_is_told_at_once(stage: Stage) -> None:
    await stage.broker.register("T")
    first = stage.servers[0]
    await first.stop()
    await first.start()
    await until(lambda: "T" in first.topics(), "the restarted name server knows T")


async def test_a_name_server_that_appears_is_told_at_once(stage: Stage) -> None:
    await stage.broker.register("T")
    async with servers(1) as (new,):
        stage.sidecar.fleet.set([*(p.address for p in stage.proxies), new.address])
        await until(lambda: "T" in new.topics(), "the new name server knows T")


async def test_a_dead_name_server_is_named_in_the_remark(stage: Stage) -> None:
    dead = stage.proxies[1]
    await dead.stop()
    await until(lambda: len(stage.sidecar.fleet.up) == 2)
    reply = await stage.broker.register("T")
    assert reply.code == 0
    assert reply.remark is not None
    assert dead.address in reply.remark
    assert stage.proxies[0].address not in reply.remark


async def test_without_any_name_server_registration_fails_and_is_kept(stage: Stage) -> None:
    for standing in stage.proxies:
        await standing.stop()
    await until(lambda: not stage.sidecar.fleet.up)
    reply = await stage.broker.register("T")
    assert reply.code == 1
    await stage.proxies[2].start()
    await until(lambda: "T" in stage.servers[2].topics())


async def test_an_increment_is_added_to_what_a_newcomer_is_told(stage: Stage) -> None:
    await stage.broker.register("T")
    await stage.broker.register("U", counter=2, full=False)
    assert stage.all_know("U")
    assert stage.sidecar.teller.sums.increments == 3
    async with servers(1) as (new,):
        stage.sidecar.fleet.set([*(p.address for p in stage.proxies), new.address])
        await until(lambda: {"T", "U"} <= new.topics())


async def test_an_unchanged_registration_travels_as_a_question(stage: Stage) -> None:
    await stage.broker.register("T")
    await stage.broker.register("T")
    assert (stage.sidecar.teller.sums.full, stage.sidecar.teller.sums.queries) == (3, 3)


async def test_a_name_server_that_lost_the_broker_is_sent_all_again(stage: Stage) -> None:
    await stage.broker.register("T")
    other = await Broker().connect(stage.servers[0].port)
    await other.ask(104, stage.broker.identity)
    await until(lambda: "T" not in stage.servers[0].topics())
    reply = await stage.broker.query()
    assert reply.fields is not None
    assert reply.fields["changed"] == "true"
    await stage.broker.register("T")
    assert stage.all_know("T")
    other.hang_up()


async def test_unregistration_reaches_every_name_server(stage: Stage) -> None:
    await stage.broker.register("T")
    assert (await stage.broker.query()).field("changed") == "false"
    reply = await stage.broker.ask(104, stage.broker.identity)
    assert reply.code == 0
    assert all(not server.brokers() for server in stage.servers)
    assert (await stage.broker.query()).field("changed") == "true"


async def test_reads_go_to_one_that_answers(stage: Stage) -> None:
    await stage.broker.register("T")
    for dead in stage.servers[:2]:
        await dead.stop()
    reply = await stage.broker.ask(105, {"topic": "T"})
    assert reply.code == 0
    assert b'"a"' in reply.body
    assert (await stage.broker.ask(105, {"topic": "none"})).code == 17


async def test_order_topics_come_with_every_registration(stage: Stage) -> None:
    await stage.broker.ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "T", "value": "a:4"})
    # The answer comes with the first that has it; a slow disk may take longer.
    states = [server.running.state for server in stage.servers]
    await until(lambda: all(state.kv.get("ORDER_TOPIC_CONFIG", "T") for state in states))
    first, second = await stage.broker.register("T"), await stage.broker.register("T")
    assert first.body == second.body == b'{"table":{"T":"a:4"}}'


async def test_a_slave_is_told_of_its_master_with_every_registration(stage: Stage) -> None:
    await stage.broker.register("T", haServerAddr="10.0.0.1:10912")
    slave = await Broker("a", 1, "10.0.0.2:10911").connect(stage.port)
    for _ in range(2):
        reply = await slave.register("T")
        assert reply.field("masterAddr") == "10.0.0.1:10911"
        assert reply.field("haServerAddr") == "10.0.0.1:10912"
    slave.hang_up()
