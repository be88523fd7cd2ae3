"""Logs: what a line looks like, and that writing one never harms the server."""

import json
import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from signpost_namesrv import logs
from signpost_namesrv.logs.lines import Event, json_line, text_line
from signpost_namesrv.logs.writer import Writer

AT = 1_794_845_424.1239


def event(message: str = "done", level: int = 20, **fields: object) -> Event:
    return Event(AT, level, "routes", message, fields)


@pytest.mark.parametrize(
    ("level", "shown"),
    [(10, "DEBUG"), (20, "INFO "), (30, "WARN "), (40, "ERROR"), (50, "ERROR"), (25, "INFO ")],
)
def test_the_start_of_a_line(level: int, shown: str) -> None:
    line = text_line(event("broker registered", level, broker="a", id=0))
    assert line == f"2026-11-16T16:10:24.123Z {shown} routes broker registered broker=a id=0"


@pytest.mark.parametrize(
    ("value", "text", "plain"),
    [
        ("a", "a", "a"),
        ("10.0.0.1:10911", "10.0.0.1:10911", "10.0.0.1:10911"),
        ("%RETRY%g", "%RETRY%g", "%RETRY%g"),
        ("", '""', ""),
        ("a b", '"a b"', "a b"),
        ("a=b", '"a=b"', "a=b"),
        ('"', '"\\""', '"'),
        ("\\n", '"\\\\n"', "\\n"),
        ("a\nb\r", '"a\\nb\\r"', "a\nb\r"),
        ("\x1b[2J\x7f", '"\\x1b[2J\\x7f"', "\x1b[2J\x7f"),
        ("\u2028\u202e\x85", '"\\u2028\\u202e\\x85"', "\u2028\u202e\x85"),
        ("主题", '"主题"', "主题"),
        ("\udc80", '"\\udc80"', "\udc80"),
        (b"a\xff\n", '"a\\\\xff\\n"', "a\\xff\n"),
        (True, "true", True),
        (7, "7", 7),
        (0.5, "0.5", 0.5),
        (float("nan"), "nan", "nan"),
        (("a", "b"), "a,b", ["a", "b"]),
        (("a", "b c"), '"a,b c"', ["a", "b c"]),
        (Path("/data"), "/data", "/data"),
        (SecretStr("hush"), "**********", "**********"),
        ("x" * 5000, "x" * 1000 + "...", "x" * 1000 + "..."),
    ],
)
def test_values(value: object, text: str, plain: object) -> None:
    assert text_line(event(v=value)).partition(" v=")[2] == text
    assert json.loads(json_line(event(v=value)))["v"] == plain


def test_a_name_cannot_end_the_line_either() -> None:
    assert text_line(Event(AT, 20, "routes", "done", {"a\nb": 1})).endswith(' "a\\nb"=1')


def test_nothing_is_no_field() -> None:
    assert text_line(event(v=None)).endswith("done")
    assert "v" not in json.loads(json_line(event(v=None)))


def test_json() -> None:
    assert json.loads(json_line(event(broker="a", time="never", message_="x"))) == {
        "time": "2026-11-16T16:10:24.123Z",
        "level": "INFO",
        "part": "routes",
        "message": "done",
        "broker": "a",
        "time_": "never",
        "message_": "x",
    }


def test_exceptions_bring_their_stack() -> None:
    try:
        os.close(-1)
    except OSError as error:
        error.strerror = "no\nroom"
        line = text_line(event(error=error))
    assert ' error="OSError: [Errno 9] no\\nroom" stack="Traceback' in line
    assert "test_exceptions_bring_their_stack" in line
    assert line.isprintable()


@given(st.text(), st.text() | st.binary() | st.lists(st.text()))
def test_nothing_ends_a_line_early(message: str, value: object) -> None:
    assert text_line(event(message, v=value)).isprintable()
    assert json_line(event(message, v=value)).isprintable()


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    for descriptor in (reader, writer):
        try:
            os.close(descriptor)
        except OSError:
            continue


@pytest.fixture
def own_logging() -> Iterator[None]:
    root, ours = logging.getLogger(), logging.getLogger("signpost")
    before = root.handlers[:], root.level, ours.level
    root.handlers = []
    yield
    for handler in root.handlers:
        handler.close()
    root.handlers = before[0]
    root.setLevel(before[1])
    ours.setLevel(before[2])


@pytest.mark.usefixtures("own_logging")
class TestConfigured:
    def test_levels(self, pipe: tuple[int, int]) -> None:
        writer = logs.configure("info", "json", pipe[1])
        log = logs.get("server")
        log.debug("unheard")
        log.info("heard", n=1)
        log.warning("heard", n=2)
        log.error("heard", n=3)
        logs.set_level("error")
        log.warning("unheard")
        logs.set_level("debug")
        log.debug("heard", n=4)
        writer.close()
        lines = [json.loads(line) for line in os.read(pipe[0], 65536).splitlines()]
        assert [(line["message"], line["n"]) for line in lines] == [
            ("heard", n) for n in (1, 2, 3, 4)
        ]
        assert [line["level"] for line in lines] == ["INFO", "WARN", "ERROR", "DEBUG"]
        assert {line["part"] for line in lines} == {"server"}

    def test_libraries(self, pipe: tuple[int, int]) -> None:
        writer = logs.configure("debug", "text", pipe[1])
        logging.getLogger("lib").info("unheard")
        try:
            os.environ["NO SUCH VARIABLE"]
        except KeyError:
            logging.getLogger("lib").exception("broke: %s", "a\nb")
        writer.close()
        (line,) = os.read(pipe[0], 65536).decode().splitlines()
        assert re.search(
            r'Z ERROR lib broke: a\\nb error="KeyError: \'NO SUCH VARIABLE\'" stack="Traceback',
            line,
        )

    def test_a_value_that_cannot_be_shown(
        self, pipe: tuple[int, int], capsys: pytest.CaptureFixture[str]
    ) -> None:
        class Broken:
            def __str__(self) -> str:
                raise RuntimeError("broken")

        writer = logs.configure("info", "text", pipe[1])
        logs.get("server").info("unheard", v=Broken())
        logs.get("server").info("heard")
        writer.close()
        assert os.read(pipe[0], 65536).count(b"\n") == 1
        assert "RuntimeError: broken" in capsys.readouterr().err

    def test_lost_lines_are_told(self, pipe: tuple[int, int]) -> None:
        writer = logs.configure("info", "text", pipe[1])
        writer._lost = 3
        logs.get("server").info("heard")
        writer.close()
        first, second = os.read(pipe[0], 65536).decode().splitlines()
        assert first.endswith("WARN  logs log lines lost count=3")
        assert second.endswith("INFO  server heard")


def test_a_reader_that_stalls_holds_nobody_up(pipe: tuple[int, int]) -> None:
    writer = Writer(pipe[1], room=10)
    for _ in range(100):
        writer.put("x" * 10_000)
    assert writer.take_lost() == 0  # there is no room to say so
    writer.close(timeout=0.01)  # and leaving does not wait either
    os.close(pipe[0])
    writer.close()
    assert not writer._thread.is_alive()
    assert writer.take_lost() > 50


@pytest.mark.parametrize("blocking", [True, False])
def test_a_reader_that_comes_back_gets_whole_lines(blocking: bool, pipe: tuple[int, int]) -> None:
    os.set_blocking(pipe[1], blocking)
    writer = Writer(pipe[1])
    lines = [str(n) * 50_000 for n in range(10)]
    for line in lines:
        writer.put(line)
    got = b""
    while got.count(b"\n") < len(lines):
        got += os.read(pipe[0], 65536)
    writer.close()
    assert got.decode().splitlines() == lines
    assert writer.take_lost() == 0


def test_a_reader_that_is_gone(pipe: tuple[int, int]) -> None:
    os.close(pipe[0])
    writer = Writer(pipe[1])
    writer.put("unheard")
    writer.put("unheard")
    writer.close()
    assert not writer._thread.is_alive()
    assert writer.take_lost() == 2
