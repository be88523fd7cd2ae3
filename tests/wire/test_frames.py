"""Cutting streams into frames: any chunking gives the same frames, and memory is bounded."""

import struct
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signpost_namesrv.wire.errors import FrameError
from signpost_namesrv.wire.frames import FrameCutter
from tests.support.remoting import framed

frames = st.builds(
    framed, st.binary(max_size=40), st.binary(max_size=80), st.integers(min_value=0, max_value=255)
)


def cut(stream: bytes, cuts: list[int], cutter: FrameCutter) -> list[bytes]:
    """Feed the stream in the chunks that end at `cuts`."""
    edges = [0, *sorted(c % (len(stream) + 1) for c in cuts), len(stream)]
    found: list[bytes] = []
    for start, end in pairwise(edges):
        if start < end:
            found += map(bytes, cutter.feed(stream[start:end]))
    return found


@given(st.lists(frames, max_size=8), st.lists(st.integers(min_value=0), max_size=30))
def test_any_chunking_gives_the_same_frames(sent: list[bytes], cuts: list[int]) -> None:
    cutter = FrameCutter(256, 64)
    assert cut(b"".join(sent), cuts, cutter) == [frame[4:] for frame in sent]
    assert cutter.empty
    assert cutter.outstanding == 0


@given(st.lists(frames, max_size=4), frames, st.data())
def test_an_unfinished_frame_waits(sent: list[bytes], last: bytes, data: st.DataObject) -> None:
    kept = data.draw(st.integers(min_value=1, max_value=len(last) - 1))
    cutter = FrameCutter(256, 64)
    stream = b"".join(sent) + last[:kept]
    cuts = data.draw(st.lists(st.integers(min_value=0), max_size=10))
    assert cut(stream, cuts, cutter) == [frame[4:] for frame in sent]
    assert not cutter.empty
    assert cutter.outstanding == (len(last) if kept >= 8 else kept)
    assert list(cutter.feed(last[kept:])) == [last[4:]]
    assert cutter.outstanding == 0


@given(st.binary(max_size=300), st.lists(st.integers(min_value=0), max_size=10))
def test_noise_is_cut_or_refused_the_same_in_any_chunking(noise: bytes, cuts: list[int]) -> None:
    def outcome(chunks: list[int]) -> tuple[list[bytes], str]:
        cutter, found = FrameCutter(128, 32), []
        edges = [0, *sorted(c % (len(noise) + 1) for c in chunks), len(noise)]
        try:
            for start, end in pairwise(edges):
                if start < end:
                    for frame in cutter.feed(noise[start:end]):
                        found.append(bytes(frame))  # noqa: PERF401 - the ones before an error count
                    assert cutter.outstanding <= 128
        except FrameError as e:
            return found, str(e)
        return found, ""

    assert outcome(cuts) == outcome([])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (0, 0),
        (3, 0),
        (253, 0),  # one more than max_frame allows
        (0xFFFFFFFF, 0),
        (0x80000000, 0),
        (100, 97),  # the header does not fit into its frame
        (200, 65),  # the header is over its own limit
        (200, 0x01000041),
        (200, 0x00FFFFFF),
    ],
)
def test_bad_lengths_are_refused_before_anything_is_kept(first: int, second: int) -> None:
    cutter = FrameCutter(256, 64)
    with pytest.raises(FrameError):
        list(cutter.feed(struct.pack(">II", first, second)))


@pytest.mark.parametrize(
    ("first", "second"), [(4, 0), (252, 0), (68, 64), (252, 64), (252, 0x01000040)]
)
def test_lengths_at_their_limits_are_taken(first: int, second: int) -> None:
    cutter = FrameCutter(256, 64)
    stream = struct.pack(">II", first, second) + bytes(first - 4)
    assert list(cutter.feed(stream)) == [stream[4:]]


def test_a_frame_in_tiny_pieces_costs_about_its_size() -> None:
    """A peer that sends two bytes at a time must not make us keep an object for each."""
    cutter = FrameCutter(1 << 20, 64)
    stream = framed(b"", bytes(1 << 16))
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for at in range(0, len(stream) - 2, 2):
            assert not list(cutter.feed(stream[at : at + 2]))
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert cutter.outstanding == len(stream)
    assert after - before < 2 * len(stream)
    assert list(cutter.feed(stream[-2:])) == [stream[4:]]
