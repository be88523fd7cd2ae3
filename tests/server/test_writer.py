"""One change at a time, in order, with turns for others in between."""

import asyncio
import itertools
from collections.abc import Generator

import pytest

from signpost_namesrv.server.writer import Writer


def job(name: str, turns: int, trace: list[str]) -> Generator[None, None, str]:
    for turn in range(turns):
        trace.append(f"{name}{turn}")
        yield
    trace.append(f"{name}.")
    return name


async def test_jobs_run_one_after_the_other() -> None:
    writer, trace = Writer(asyncio.get_running_loop()), list[str]()
    writer.submit(job("a", 2, trace), trace.append)
    writer.submit(job("b", 0, trace), trace.append)
    writer.submit(job("c", 1, trace), trace.append)
    await writer.drained()
    assert trace == ["a0", "a1", "a.", "a", "b.", "b", "c0", "c.", "c"]


async def test_a_short_job_is_done_when_submit_returns() -> None:
    writer, trace = Writer(asyncio.get_running_loop()), list[str]()
    writer.submit(job("a", 0, trace), trace.append)
    assert trace == ["a.", "a"]


async def test_the_loop_gets_a_turn_between_slices_and_between_jobs() -> None:
    writer, trace = Writer(asyncio.get_running_loop()), list[str]()
    writer.submit(job("a", 2, trace), trace.append)
    for _ in range(10):
        writer.submit(job("b", 0, trace), lambda _: None)
    seen = []
    while not writer._idle.is_set():
        seen.append(len(trace))
        await asyncio.sleep(0)
    assert len(seen) >= 12
    assert max(later - before for before, later in itertools.pairwise(seen)) <= 2


async def test_a_failure_costs_one_job() -> None:
    writer, trace = Writer(asyncio.get_running_loop()), list[str]()

    def broken() -> Generator[None, None, None]:
        yield
        raise LookupError("a bug")

    errors: list[Exception] = []
    writer.submit(broken(), lambda _: None, errors.append)
    writer.submit(broken(), lambda _: None)
    writer.submit(job("a", 1, trace), trace.append)
    with pytest.raises(LookupError):
        await writer.run(broken())
    assert [str(e) for e in errors] == ["a bug"]
    assert trace == ["a0", "a.", "a"]
    assert await writer.run(job("b", 3, trace)) == "b"


async def test_work_asked_for_by_finished_work_comes_last() -> None:
    writer, trace = Writer(asyncio.get_running_loop()), list[str]()
    writer.submit(job("a", 1, trace), lambda _: writer.submit(job("c", 0, trace), lambda _: None))
    writer.submit(job("b", 0, trace), lambda _: None)
    await writer.drained()
    assert trace == ["a0", "a.", "b.", "c."]


async def test_a_caller_that_no_longer_waits_does_no_harm() -> None:
    writer, trace = Writer(asyncio.get_running_loop()), list[str]()
    future = writer.run(job("a", 1, trace))
    future.cancel()
    await writer.drained()
    assert trace == ["a0", "a."]
