"""Cutting a stream of bytes into frames, without I/O.

Holds at most one incomplete frame. What it has promised to hold is bounded by `max_frame`; the
caller bounds the sum over all connections by `outstanding`.
"""

import struct
from collections.abc import Iterator

from .errors import FrameError

Frame = bytes | memoryview

_LARGE = 64 * 1024
_word = struct.Struct(">I")


class FrameCutter:
    """Feed it bytes as they come; iterate over the frames that are complete."""

    __slots__ = ("_buffer", "_have", "_max_frame", "_max_header", "_need")

    def __init__(self, max_frame: int, max_header: int) -> None:
        """`max_frame` counts the length word too, as RocketMQ's own limit does."""
        self._max_frame = max_frame
        self._max_header = max_header
        self._buffer = bytearray()  # not a list of chunks: tiny ones cost many times their size
        self._have = 0
        self._need = 0  # size of the frame under way, its length word included; 0: not known

    @property
    def outstanding(self) -> int:
        """Bytes of memory that the frame under way may come to hold."""
        return max(self._need, self._have)

    @property
    def empty(self) -> bool:
        """Whether no byte waits for the rest of its frame."""
        return not self._have

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield each complete frame, without its length word; FrameError on a bad length.

        The iterator must be run to its end, or the stream be given up.
        """
        stream: Frame = data
        if self._have:
            self._buffer += data
            self._have += len(data)
            if self._have < (self._need or 8):
                return
            whole, self._buffer = self._buffer, bytearray()
            # Copying a small one is cheaper than looking at it through a view.
            stream = bytes(whole) if len(whole) < _LARGE else memoryview(whole)
        position, size = 0, len(stream)
        self._need = 0
        while size - position >= 8:
            end = position + self._frame_size(stream, position)
            if end > size:
                self._need = end - position
                break
            self._have = size - end
            yield stream[position + 4 : end]
            position = end
        self._have = size - position
        if self._have:
            self._buffer += memoryview(stream)[position:]

    def _frame_size(self, data: Frame, position: int) -> int:
        """Check both length words before anything is kept for them."""
        length: int = _word.unpack_from(data, position)[0]
        if not 4 <= length <= self._max_frame - 4:
            raise FrameError(f"frame length {length} is not between 4 and {self._max_frame - 4}")
        header = int.from_bytes(data[position + 5 : position + 8], "big")
        if header > self._max_header or header + 4 > length:
            limit = min(self._max_header, length - 4)
            raise FrameError(f"header length {header} is over {limit}")
        return 4 + length
