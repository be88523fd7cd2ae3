"""Resident memory of a name server: with many topics, and with many idle connections."""

from __future__ import annotations

from bench.cli import step
from bench.load import Shape, measure
from bench.register import compressed_body, topic_names
from bench.report import Row
from bench.scene import Scene
from bench.servers import raise_file_limit
from bench.wire import GET_ROUTE, Client

TOPICS_MB, IDLE_MB = 150, 200


def many_topics(on: Scene) -> list[Row]:
    """100,000 topics on 2 brokers, then look-ups of all of them."""
    count = 10_000 if on.quick else 100_000
    names = topic_names(count)
    for number in range(2):
        broker = on.broker(100 + number)
        broker.register(broker.prepare(compressed_body(names, number), compressed=True))
    registered = on.server.memory()
    topics = on.folder / "many-topics"
    topics.write_text("\n".join(names) + "\n")
    measure(on.server, topics, Shape(50, 16), 3.0 if on.quick else 15.0)
    looked_up = on.server.memory()
    step(f"{count:,} topics: {registered['now']:.0f} MB, {looked_up['now']:.0f} MB after look-ups")
    return [
        Row(f"{count:,} topics x 2 brokers: registered", registered["now"], "MB", TOPICS_MB),
        Row("- after every one was looked up", looked_up["now"], "MB", TOPICS_MB),
        Row("- highest on the way", looked_up["peak"], "MB"),
    ]


def idle_connections(on: Scene) -> list[Row]:
    """10,000 clients that looked up one topic each and then keep still."""
    count = 1000 if on.quick else min(10_000, raise_file_limit() - 200)
    topic = on.topics.read_text().split()[0]
    before = on.server.memory()
    clients: list[Client] = []
    try:
        for _ in range(count):
            client = Client(on.server.port)
            clients.append(client)
            client.call(GET_ROUTE, {"topic": topic})
        after = on.server.memory()
    finally:
        for client in clients:
            client.close()
    step(f"{count:,} idle connections: {after['now']:.0f} MB, without {before['now']:.0f} MB")
    return [
        Row(f"{count:,} idle connections", after["now"], "MB", IDLE_MB),
        Row("- without them", before["now"], "MB"),
    ]
