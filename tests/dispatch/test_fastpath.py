"""The fast path: the same bytes as the slow one, or none; never what is no longer true."""

import json
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signpost_namesrv.dispatch.fastpath import MAX_ANSWER, FastPath
from signpost_namesrv.wire.command import Command, decode_frame
from signpost_namesrv.wire.errors import FrameError
from signpost_namesrv.wire.frames import FrameCutter
from tests.support.remoting import framed, parse, parse_all, request
from tests.support.world import World, registration


class Both:
    """A server that answers reads by either path, as a connection does."""

    def __init__(self) -> None:
        self.world = World()
        self.world.register("a", topics={"T": 6, "U": 6, 'q"\\,"opaque":7': 6, "é": 6})
        self.world.register("b", 0, "b:1", topics={"T": 4, "V": 6})
        self.fast = FastPath()
        self.world.state.tables.log.subscribe(self.fast.route_changed)

    def slow(self, data: bytes, learn: bool = True) -> bytes | None:
        """The answers to all frames of a read; None when they are no whole frames."""
        cutter, out = FrameCutter(1 << 20, 1 << 16), b""
        try:
            for frame in map(bytes, cutter.feed(data)):
                command = decode_frame(frame)
                if command.is_response:
                    continue
                answer = self.world.run(data[:4] + frame)
                if not command.is_oneway:
                    out += answer
                if learn and command.code == 105:
                    self.learn(frame, answer)
        except FrameError:
            return None
        return out if cutter.empty else None

    def learn(self, frame: bytes, answer: bytes) -> None:
        command, reply = decode_frame(frame), decode_frame(answer[4:])
        if reply.code == 0 and not (command.binary or command.is_oneway):
            self.fast.learn(frame, command, reply)

    def look_up(self, topic: str = "T", opaque: int = 5) -> bytes:
        return request(105, {"topic": topic}, opaque=opaque)

    def is_known(self, topic: str = "T") -> bool:
        return self.fast.answer(self.look_up(topic)) is not None

    def warm(self, *topics: str) -> None:
        for topic in topics:
            self.slow(self.look_up(topic))
            assert self.is_known(topic)


@pytest.fixture(scope="module")
def both() -> Both:
    return Both()


opaques = st.one_of(
    st.integers(0, 12), st.integers(-(2**31), 2**31 - 1), st.sampled_from([999_999_999, 10**9])
)
look_ups = st.builds(
    request,
    st.sampled_from([105, 105, 105, 105, 106, 904]),
    st.one_of(
        st.builds(lambda topic: {"topic": topic}, st.sampled_from(["T", "U", "V", "é", "none"])),
        st.builds(
            lambda topic, more: {"topic": topic} | more,
            st.sampled_from(["T", 'q"\\,"opaque":7']),
            st.sampled_from(
                [
                    {"acceptStandardJsonOnly": "true"},
                    {"opaque": "5"},
                    {"opaque": 5},
                    {"__ZONE_MODE": "true", "__ZONE_NAME": "z"},
                ]
            ),
        ),
    ),
    st.sampled_from([b"", b"", b"", b"body", b'"opaque":5']),
    opaque=opaques,
    flag=st.sampled_from([0, 0, 0, 0, 1, 2, 3]),
    version=st.sampled_from([479, 479, 479, 401, 400, 399, 37, 1000]),
    binary=st.sampled_from([False, False, False, True]),
)


def odd(header: str) -> bytes:
    return framed(header.encode())


TAIL = '"serializeTypeCurrentRPC":"JSON","version":479}'
HEAD = '{"code":105,"extFields":{"topic":"T"},"flag":0,"language":"JAVA",'
oddities = st.sampled_from(
    [
        odd(HEAD + '"opaque":007,' + TAIL),
        odd(HEAD + '"opaque":00,' + TAIL),
        odd(HEAD + '"opaque":4294967296,' + TAIL),
        odd(HEAD + '"opaque":9999999999,' + TAIL),
        odd(HEAD + '"opaque": 7,' + TAIL),
        odd(HEAD + '"opaque":1e2,' + TAIL),
        odd(HEAD + '"opaque":"7",' + TAIL),
        odd(HEAD + '"opaque":7,"opaque":8,' + TAIL),
        odd(HEAD + '"opaque":7,' + TAIL[:-4] + "400}"),
        odd(HEAD + '"opaque":7,' + TAIL[:-4] + "480}"),
        odd('{"version":3,' + HEAD[1:] + '"opaque":7,' + TAIL),
        odd(HEAD + '"x":{"opaque":7,' + TAIL + "}"),
        b'"opaque":',
        b'"opaque":5',
        b"",
        b"\0\0\0\4",
    ]
)


@given(st.lists(look_ups | oddities, max_size=6), st.booleans(), st.data())
def test_the_same_bytes_or_none(
    both: Both, reads: list[bytes], batched: bool, data: st.DataObject
) -> None:
    """What is learnt stays from one example to the next, so that later ones find more."""
    chunks = [b"".join(reads)] if batched else reads
    cut = data.draw(st.integers(0, 40) | st.just(0))
    for whole in chunks:
        chunk = whole[: len(whole) - cut]
        for _ in range(2):
            quick = both.fast.answer(chunk)
            slow = both.slow(chunk)
            assert quick in (None, slow)


@given(st.lists(look_ups, min_size=1, max_size=4), st.data())
def test_flipped_bits_are_never_answered_from_memory_wrongly(
    both: Both, reads: list[bytes], data: st.DataObject
) -> None:
    chunk = bytearray(b"".join(reads))
    both.slow(bytes(chunk))
    for place in data.draw(st.lists(st.integers(0, 8 * len(chunk) - 1), min_size=1, max_size=3)):
        chunk[place // 8] ^= 1 << place % 8
    quick = both.fast.answer(bytes(chunk))
    assert quick in (None, both.slow(bytes(chunk), learn=False))


@pytest.mark.parametrize(
    "unusual",
    [
        odd(HEAD + '"opaque":0,' + TAIL),
        odd(HEAD + '"opaque":07,' + TAIL),
        odd(HEAD + '"opaque":7,' + TAIL[:-4] + "400}"),
    ],
    ids=["zero", "leading zero", "old version"],
)
def test_what_only_looks_like_a_known_look_up_is_declined(unusual: bytes) -> None:
    both = Both()
    known = odd(HEAD + '"opaque":5,' + TAIL)
    both.slow(known)
    both.slow(odd(HEAD + '"opaque":55,' + TAIL))
    both.slow(odd(HEAD + '"opaque":5,' + TAIL[:-4] + "400}"))
    assert both.fast.answer(known * 3) == both.slow(known * 3)
    for read in (unusual, unusual + known, known + unusual, known + unusual + known):
        assert both.fast.answer(read) is None


def test_stock_look_ups_are_answered_in_batches() -> None:
    both = Both()
    both.warm("T", "U")
    both.slow(both.look_up("T", 1_000_000))
    chunk = both.look_up("T", 1) + both.look_up("U", 9) + both.look_up("T", 1_234_567)
    answer = both.fast.answer(chunk)
    assert answer == both.slow(chunk)
    assert answer is not None
    assert [a.opaque for a in parse_all(answer)] == [1, 9, 1_234_567]
    assert both.fast.served == 2 + 3


def changes() -> Iterator[tuple[str, Callable[[World], object]]]:
    queues = json.dumps({"queueDatas": [{"brokerName": "a", "perm": 1}]}).encode()
    yield "queues", lambda w: w.ask(217, {"topic": "T"}, queues)
    yield "deleted", lambda w: w.ask(216, {"topic": "T"})
    yield "wiped", lambda w: w.ask(205, {"brokerName": "a"})
    yield "slave", lambda w: w.register("a", 1, "a:2")
    yield "gone", lambda w: w.ask(104, registration("b", 0, "b:1")[0])
    yield "moved", lambda w: w.register("a", 0, "a:9", counter=2)
    yield "zone", lambda w: w.register("a", __ZONE_NAME="z")
    yield "filters", lambda w: w.register("a", filters=("f:1",))
    mapping = {"bname": "a", "topic": "T", "totalQueues": 1}
    yield "mapping", lambda w: w.register("a", mappings={"T": mapping}, counter=2)


@pytest.mark.parametrize(("change"), [c for _, c in changes()], ids=[n for n, _ in changes()])
def test_every_change_is_seen_at_once(change: Callable[[World], object]) -> None:
    both = Both()
    both.warm("T")
    before = both.slow(both.look_up("T"), learn=False)
    change(both.world)
    now = both.slow(both.look_up("T"), learn=False)
    assert now != before
    assert both.fast.answer(both.look_up("T")) in (None, now)


def test_order_configuration_is_seen_at_once() -> None:
    both = Both()
    both.world.state.reads.order_message = True
    both.warm("T", "U")
    both.fast.kv_changed("OTHER", "T")
    assert both.is_known("T")
    both.world.kv.table["ORDER_TOPIC_CONFIG"] = {"T": "a:4"}
    both.fast.kv_changed("ORDER_TOPIC_CONFIG", "T")
    assert not both.is_known("T")
    assert both.is_known("U")
    both.warm("T")
    both.fast.clear()
    assert not both.is_known("T")


def test_refusals_are_not_kept() -> None:
    both = Both()
    both.slow(both.look_up("none"))
    assert not both.is_known("none")


@pytest.mark.parametrize(("entries", "size"), [(10, 1 << 30), (1 << 30, 20_000), (4, 1)])
def test_memory_is_bounded(entries: int, size: int) -> None:
    both = Both()
    both.fast = FastPath(entries, size)
    largest = 0
    for number in range(1, 500):
        answer = both.slow(both.look_up("T", number))
        assert answer is not None
        command = request(105, {"topic": "T", "x": "y" * number})
        both.learn(command[4:], answer)
        largest = max(largest, len(answer) + 3 * len(command))
        answers = both.fast._answers
        kept = sum(len(key) for key in answers) + sum(len(e[1] + e[2]) for e in answers.values())
        assert len(answers) <= max(entries + 1, 2)
        assert kept <= 2 * (size + largest)
        assert len(both.fast._by_topic.get("T", ())) <= max(entries + 1, 2)


def test_learning_the_same_again_costs_nothing() -> None:
    both = Both()
    both.warm("T")
    held = both.fast._bytes
    for opaque in range(10, 100):
        both.slow(both.look_up("T", opaque))
    for opaque in range(10, 100):
        both.slow(both.look_up("T", opaque))
    assert both.fast._bytes < 3 * held
    assert len(both.fast._by_topic["T"]) == 4


@pytest.mark.parametrize("more", [0, 1])
def test_large_answers_are_left_to_the_slow_path_which_can_stop(more: int) -> None:
    fast, look_up = FastPath(), request(105, {"topic": "T"}, opaque=5)
    reply = Command(code=0, opaque=5, flag=1, body=bytes(MAX_ANSWER + more))
    fast.learn(look_up[4:], decode_frame(look_up[4:]), reply)
    assert (fast.answer(look_up) is None) == bool(more)


def test_answers_are_whole_frames() -> None:
    both = Both()
    both.warm("é")
    answer = both.fast.answer(both.look_up("é", 9))
    assert answer is not None
    assert parse(answer).opaque == 9
