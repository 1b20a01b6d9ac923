"""An engine that crashes or hangs ends, says how it ended, and is followed by a fresh one with the same snapshot."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine import crashes
from engine.client import EngineClient
from engine.diary import DIARY, Diary, Doing, Life, read_diary
from engine.errors import EngineDied
from engine.starting import STDERR, is_locked
from tests.engine.conftest import CONFIG, PATIENCE, House, ask
from tests.engine.snapshots import write_manifest
from tests.engine.test_server import FRANCE, STORY, answer, openai

HASTY = CONFIG.replace("}", ", watch_s: 0.1, hang_timeout_s: 1.5, crash_reports: 2, crash_log_lines: 5}")
PARIS = "The capital of France is Paris."
FAULTY = Path(__file__).with_name("faulty_engine.py")

Break = Callable[[str], None]


@pytest.fixture
async def own(home: Home, engine_settings: EngineSettings, starter: Path) -> AsyncIterator[House]:
    """A home whose engine looks after itself often."""
    home.config_file.write_text(HASTY)
    digest = write_manifest(home, starter)
    house = House(home, EngineClient(home, engine_settings, lambda: house.digest), engine_settings, starter, digest)
    yield house
    await house.client.stop()


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Break:
    """Have the next engine that is started break in a given way; those after it are whole."""

    def break_next(fault: str) -> None:
        python, been = tmp_path / "python", tmp_path / "been"
        python.write_text(
            f'#!/bin/sh\n[ -e {been} ] && exec {sys.executable} "$@"\n'
            f'touch {been}\nexport PYTHONPATH="$PWD"\nexec {sys.executable} {FAULTY} {fault} "$@"\n'
        )
        python.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(python))

    return break_next


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
    own: House, broken: Break, fault: str, cause: str, place: str
) -> None:
    broken(fault)
    status = await own.client.start()
    text, finished = await answer(own, ask(FRANCE))
    assert (text, finished.usage.snapshot) == (PARIS, "v0")
    report = report_of(own.home)
    assert (report["cause"], report["pid"], report["snapshot"]) == (cause, status.pid, "v0")
    assert report["doing"]["working"] + report["doing"]["waiting"] == 1
    assert place in " ".join(report["stacks"])
    assert len(report["version"]) >= 5
    assert len(report["settings"]) == 16
    # Where the code lies on this machine may say whose machine it is.
    assert str(Path.cwd()) not in json.dumps(report)


async def test_an_event_loop_that_hangs_ends_the_engine(own: House, broken: Break) -> None:
    broken("loop")
    await own.client.start()
    async with openai(own) as client:
        with pytest.raises(httpx.TransportError):
            await client.get("/v1/models")
    await until_gone(own.home)
    assert (await answer(own, ask(FRANCE)))[0] == PARIS
    assert report_of(own.home)["cause"] == "event_loop_hung"


async def test_the_last_words_of_native_code_are_in_the_report_without_anybodys_folders(
    own: House, broken: Break
) -> None:
    broken("ggml")
    await answer(own, ask(FRANCE))
    assert report_of(own.home)["last_words"] == ["ggml.c:42: GGML_ASSERT(a->ne[0] == b->ne[0]) failed"]
    assert report_of(own.home)["signal"] == "SIGABRT"


async def test_an_engine_that_dies_in_mid_answer_leaves_its_numbers_and_its_last_log_lines(own: House) -> None:
    stream = own.client.chat(ask(STORY), own.sampling(900))
    for _ in range(20):
        await anext(stream)
    status = await own.client.status()
    assert status is not None
    os.kill(status.pid, signal.SIGSEGV)
    with pytest.raises(EngineDied):
        async for _ in stream:
            pass
    await until_gone(own.home)
    crash = crashes.last_crash(own.home, own.settings)
    assert crash is not None
    assert crash.cause == "segmentation_fault"
    report = report_of(own.home)
    ((held, prompt, written),) = report["doing"]["slots"]
    assert held >= prompt > 10
    assert 5 <= written <= 900
    assert report["doing"]["resident_mb"] > 50
    assert [line["event"] for line in report["log"]] == ["serving"]


async def test_an_engine_killed_without_a_word_is_reported_as_killed(own: House) -> None:
    status = await own.client.start()
    os.kill(status.pid, signal.SIGKILL)
    await until_gone(own.home)
    assert (await own.client.start()).pid != status.pid
    assert (report_of(own.home)["cause"], report_of(own.home)["stacks"]) == ("killed", [])


async def test_an_engine_that_ends_in_good_order_leaves_no_report(own: House) -> None:
    for end in (own.client.stop, None):
        status = await own.client.start()
        if end:
            await end()
        else:
            os.kill(status.pid, signal.SIGTERM)
        await until_gone(own.home)
    await own.client.start()
    assert crashes.last_crash(own.home, own.settings) is None


async def test_a_machine_that_lost_its_power_is_no_crash_of_the_engine(own: House) -> None:
    status = await own.client.start()
    os.kill(status.pid, signal.SIGKILL)
    await until_gone(own.home)
    diary = own.home.logs / DIARY
    diary.write_text(json.dumps({**json.loads(diary.read_text()), "boot": "another"}))
    await own.client.start()
    assert crashes.reports(own.home) == []


async def test_no_more_reports_are_kept_than_the_settings_say_and_the_newest_stay(own: House) -> None:
    pids = []
    for _ in range(3):
        pids.append((await own.client.start()).pid)
        os.kill(pids[-1], signal.SIGKILL)
        await until_gone(own.home)
    await own.client.start()
    assert [json.loads(path.read_text())["pid"] for path in crashes.reports(own.home)] == pids[:0:-1]


async def test_a_damaged_diary_keeps_no_engine_from_starting(own: House) -> None:
    for content in (b"", b"{", b'{"pid": 1}', b'{"pid": 1, "doing": 7}', b"[]"):
        (own.home.logs / DIARY).write_bytes(content)
        assert read_diary(own.home.logs) is None
        assert (await own.client.start()).snapshot == "v0"
        await own.client.stop()


def test_a_full_disk_makes_the_diary_grow_old_and_breaks_nothing(tmp_path: Path) -> None:
    (tmp_path / DIARY).symlink_to("/dev/full")
    diary = Diary(tmp_path, Life(1, 0.0, "0", "0", 0, "", 0))
    diary.write(Doing(step=1))
    diary.close()


async def test_what_native_code_prints_of_a_request_is_gone_from_the_disk_at_the_next_look(own: House) -> None:
    await own.client.start()
    with (own.home.logs / STDERR).open("a") as stderr:
        stderr.write('parse: error parsing grammar: root ::= "pelican"\n/x/y/ggml.c:7: GGML_ASSERT(n > 0) failed\n')
    async with asyncio.timeout(PATIENCE):
        while "pelican" in (own.home.logs / STDERR).read_text():
            await asyncio.sleep(0.02)
    assert (own.home.logs / STDERR).read_text() == "ggml.c:7: GGML_ASSERT(n > 0) failed\n"


async def test_an_engine_stopped_for_a_moment_goes_on(own: House) -> None:
    status = await own.client.start()
    os.kill(status.pid, signal.SIGSTOP)
    await asyncio.sleep(0.8)
    os.kill(status.pid, signal.SIGCONT)
    assert (await answer(own, ask(FRANCE)))[0] == PARIS
    assert (await own.client.start()).pid == status.pid
