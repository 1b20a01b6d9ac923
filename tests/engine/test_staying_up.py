"""An engine that crashes or hangs ends, says how it ended, and is followed by a fresh one with the same snapshot."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from configs.home import Home
from engine import crashes
from engine.answers import Finished
from engine.errors import EngineDied
from engine.starting import LOG, STDERR, is_locked
from engine.state_file import STATE_FILE, Activity, EngineState, StateFile, read_state
from tests.engine.conftest import PATIENCE, Break, House, ask
from tests.engine.snapshots import write_manifest
from tests.engine.test_server import FRANCE, STORY, answer, openai

PARIS = "The capital of France is Paris."


def report_of(home: Home) -> dict[str, Any]:
    """The one report there is."""
    (path,) = crashes.reports(home)
    found: dict[str, Any] = json.loads(path.read_text())
    return found


async def until_gone(home: Home) -> None:
    async with asyncio.timeout(PATIENCE):
        while is_locked(home):
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("fault", "cause", "place"),
    [
        ("segfault", "segmentation_fault", "faulty_engine.py"),
        ("ggml", "abort", "faulty_engine.py"),
        ("hang", "decoding_hung", "in hang_in_native_code"),
        ("spin", "hang", "in hang_with_pythons_lock"),
        ("thread", "decoding_thread_died", "watchdog.py"),
    ],
)
async def test_an_engine_that_breaks_is_followed_by_one_that_answers_and_by_a_report(
    hasty: House, broken: Break, fault: str, cause: str, place: str
) -> None:
    broken(fault)
    status = await hasty.client.start()
    text, finished = await answer(hasty, ask(FRANCE))
    assert (text, finished.usage.snapshot) == (PARIS, "v0")
    report = report_of(hasty.home)
    assert (report["cause"], report["pid"], report["snapshot"]) == (cause, status.pid, "v0")
    assert report["activity"]["working"] + report["activity"]["waiting"] == 1
    assert place in " ".join(report["stacks"])
    assert len(report["version"]) >= 5
    assert len(report["settings"]) == 16
    # Where the code lies on this machine may say whose machine it is.
    assert str(Path.cwd()) not in json.dumps(report)


async def test_an_event_loop_that_hangs_ends_the_engine(hasty: House, broken: Break) -> None:
    broken("loop")
    await hasty.client.start()
    async with openai(hasty) as client:
        with pytest.raises(httpx.TransportError):
            await client.get("/v1/models")
    await until_gone(hasty.home)
    assert (await answer(hasty, ask(FRANCE)))[0] == PARIS
    assert report_of(hasty.home)["cause"] == "event_loop_hung"


async def test_an_engine_that_does_not_come_to_its_end_is_ended(hasty: House, broken: Break) -> None:
    broken("end")
    await hasty.client.start()
    assert await hasty.client.stop() is True
    assert (await answer(hasty, ask(FRANCE)))[0] == PARIS
    assert report_of(hasty.home)["cause"] == "end_hung"


async def test_a_system_error_of_an_engine_that_answered_is_not_told_as_one_of_its_start(
    hasty: House, broken: Break
) -> None:
    broken("lost file")
    await hasty.client.start()
    assert await hasty.client.stop() is True
    told: list[tuple[str, str | None]] = []
    async with asyncio.timeout(PATIENCE):
        while not told:
            # It is gone when its lock is; what it failed with is the very last that it writes, after that.
            await asyncio.sleep(0.02)
            lines = [json.loads(line) for line in (hasty.home.logs / LOG).read_text().splitlines()]
            told = [(line["event"], line.get("error")) for line in lines if line["level"] != "info"]
    assert told == [("uncaught", "FileNotFoundError")]


async def test_an_engine_whose_threads_are_all_taken_comes_to_its_end(hasty: House, broken: Break) -> None:
    broken("threads")
    await hasty.client.start()
    assert await hasty.client.stop() is True
    await hasty.client.start()
    assert crashes.reports(hasty.home) == []


async def test_an_engine_told_to_end_while_it_starts_ends_in_good_order_and_is_started_once_more(
    hasty: House, broken: Break
) -> None:
    broken("load")
    starting = asyncio.ensure_future(hasty.client.start())
    async with asyncio.timeout(PATIENCE):
        while (state := read_state(hasty.home.logs)) is None:
            await asyncio.sleep(0.01)
    os.kill(state.pid, signal.SIGTERM)
    assert (await starting).pid != state.pid
    assert crashes.reports(hasty.home) == []


async def test_an_engine_that_crashes_while_its_model_is_loaded_leaves_a_report(hasty: House, broken: Break) -> None:
    broken("load crash")
    assert (await hasty.client.start()).snapshot == "v0"
    report = report_of(hasty.home)
    assert (report["cause"], report["ready"], report["snapshot"]) == ("segmentation_fault", False, "")
    assert "faulty_engine.py" in " ".join(report["stacks"])


async def test_a_model_that_comes_in_from_a_slow_disk_is_no_hang(hasty: House, broken: Break) -> None:
    (hasty.home.models / "other.gguf").write_bytes(hasty.starter.read_bytes())
    broken("disk")
    status = await hasty.client.start()
    hasty.digest = write_manifest(hasty.home, hasty.starter, name="v1", model="other")
    begun = time.monotonic()
    text, finished = await answer(hasty, ask(FRANCE))
    # Longer than a step may take.
    assert time.monotonic() - begun > 1.5
    assert (text, finished.usage.snapshot) == (PARIS, "v1")
    assert (await hasty.client.start()).pid == status.pid


async def test_the_last_words_of_native_code_are_in_the_report_without_anybodys_folders(
    hasty: House, broken: Break
) -> None:
    broken("ggml")
    await answer(hasty, ask(FRANCE))
    assert report_of(hasty.home)["last_words"] == ["ggml.c:42: GGML_ASSERT(a->ne[0] == b->ne[0]) failed"]
    assert report_of(hasty.home)["signal"] == "SIGABRT"


async def test_an_engine_that_dies_in_mid_answer_leaves_its_numbers_and_its_last_log_lines(hasty: House) -> None:
    stream = hasty.client.chat(ask(STORY), hasty.sampling(900))
    for _ in range(20):
        await anext(stream)
    status = await hasty.client.status()
    assert status is not None
    os.kill(status.pid, signal.SIGSEGV)
    with pytest.raises(EngineDied):
        async for _ in stream:
            pass
    await until_gone(hasty.home)
    crash = crashes.last_crash(hasty.home, hasty.settings)
    assert crash is not None
    assert crash.cause == "segmentation_fault"
    report = report_of(hasty.home)
    ((held, prompt, written),) = report["activity"]["slots"]
    assert held >= prompt > 10
    assert 5 <= written <= 900
    assert report["activity"]["resident_mb"] > 50
    assert [line["event"] for line in report["log"]] == ["serving"]


async def test_an_answer_is_written_to_its_end_where_no_file_can_be_opened_any_more(hasty: House) -> None:
    stream = hasty.client.chat(ask(STORY), hasty.sampling(60))
    await anext(stream)
    status = await hasty.client.status()
    assert status is not None
    _, most = resource.prlimit(status.pid, resource.RLIMIT_NOFILE)
    before = resource.prlimit(status.pid, resource.RLIMIT_NOFILE, (3, most))
    try:
        pieces = [piece async for piece in stream]
    finally:
        resource.prlimit(status.pid, resource.RLIMIT_NOFILE, before)
    assert isinstance(pieces[-1], Finished)
    assert (await answer(hasty, ask(FRANCE)))[0] == PARIS


async def test_an_engine_killed_without_a_word_is_reported_as_killed(hasty: House) -> None:
    status = await hasty.client.start()
    os.kill(status.pid, signal.SIGKILL)
    await until_gone(hasty.home)
    assert (await hasty.client.start()).pid != status.pid
    assert (report_of(hasty.home)["cause"], report_of(hasty.home)["stacks"]) == ("killed", [])


async def test_nothing_is_left_of_an_engine_that_ended_while_its_starter_lives(hasty: House) -> None:
    status = await hasty.client.start()
    os.kill(status.pid, signal.SIGKILL)
    async with asyncio.timeout(PATIENCE):
        while Path(f"/proc/{status.pid}").exists():
            await asyncio.sleep(0.02)


async def test_an_engine_that_ends_in_good_order_leaves_no_report(hasty: House) -> None:
    for end in (hasty.client.stop, None):
        status = await hasty.client.start()
        if end:
            await end()
        else:
            os.kill(status.pid, signal.SIGTERM)
        await until_gone(hasty.home)
    await hasty.client.start()
    assert crashes.last_crash(hasty.home, hasty.settings) is None


async def test_a_machine_that_lost_its_power_is_no_crash_of_the_engine(hasty: House) -> None:
    status = await hasty.client.start()
    os.kill(status.pid, signal.SIGKILL)
    await until_gone(hasty.home)
    state_file = hasty.home.logs / STATE_FILE
    state_file.write_text(json.dumps({**json.loads(state_file.read_text()), "boot": "another"}))
    await hasty.client.start()
    assert crashes.reports(hasty.home) == []


async def test_no_more_reports_are_kept_than_the_settings_say_and_the_newest_stay(hasty: House) -> None:
    pids = []
    for _ in range(3):
        pids.append((await hasty.client.start()).pid)
        os.kill(pids[-1], signal.SIGKILL)
        await until_gone(hasty.home)
    await hasty.client.start()
    assert [json.loads(path.read_text())["pid"] for path in crashes.reports(hasty.home)] == pids[:0:-1]


async def test_a_damaged_state_file_keeps_no_engine_from_starting(hasty: House) -> None:
    for content in (b"", b"{", b'{"pid": 1}', b'{"pid": 1, "activity": 7}', b"[]"):
        (hasty.home.logs / STATE_FILE).write_bytes(content)
        assert read_state(hasty.home.logs) is None
        assert (await hasty.client.start()).snapshot == "v0"
        await hasty.client.stop()


def test_a_full_disk_makes_the_state_file_grow_old_and_breaks_nothing(tmp_path: Path) -> None:
    (tmp_path / STATE_FILE).symlink_to("/dev/full")
    state_file = StateFile(tmp_path, EngineState(1, 0.0, "0", "0", 0, "", 0))
    state_file.write(Activity(step=1))
    state_file.close()


async def test_what_native_code_prints_of_a_request_is_gone_from_the_disk_at_the_next_look(hasty: House) -> None:
    await hasty.client.start()
    with (hasty.home.logs / STDERR).open("a") as stderr:
        stderr.write('parse: error parsing grammar: root ::= "pelican"\n/x/y/ggml.c:7: GGML_ASSERT(n > 0) failed\n')
    async with asyncio.timeout(PATIENCE):
        while "pelican" in (hasty.home.logs / STDERR).read_text():
            await asyncio.sleep(0.02)
    assert (hasty.home.logs / STDERR).read_text() == "ggml.c:7: GGML_ASSERT(n > 0) failed\n"


async def test_an_engine_stopped_for_a_moment_goes_on(hasty: House) -> None:
    status = await hasty.client.start()
    os.kill(status.pid, signal.SIGSTOP)
    await asyncio.sleep(0.8)
    os.kill(status.pid, signal.SIGCONT)
    assert (await answer(hasty, ask(FRANCE)))[0] == PARIS
    assert (await hasty.client.start()).pid == status.pid
