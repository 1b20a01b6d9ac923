"""A stage that is paused uses no processor and loses nothing; it goes on, or ends, from where it was held."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from configs.home import Home
from configs.settings import load_settings
from memory.pausing import pause, resume
from memory.runlog import read
from tests.trainer.stages import inputs_for
from tests.trainer.test_prepare import DOG, SYSTEM
from trainer.errors import RunStopped, StageOverBudget
from trainer.run_files import RunFiles, read_json, write_json
from trainer.staging import StageProcesses

WITHIN = 60.0
FEW = {
    "recipes": {"family": {"wordings": 3, "scattered": 0, "replay": {"prompts": 1, "prose": 1, "answer_tokens": 4}}},
    "evaluation": {"unrelated_prompts": 1, "answer_tokens": 4},
}


class Stage:
    """The real first stage, carried by a thread."""

    def __init__(self, home: Home, starter: Path, run_seconds: float = WITHIN) -> None:
        self.files = RunFiles(home.runs / "r0001")
        self.files.folder.mkdir()
        write_json(self.files.inputs, inputs_for(home, starter, FEW, lessons=(DOG,), system_prompt=SYSTEM).as_json())
        self.told: list[str] = []
        self.stop = threading.Event()
        self.raised: list[BaseException] = []
        settings = load_settings(home, {}, {"training": {"budget": {"run_seconds": run_seconds}}})
        self.processes = StageProcesses(home, settings, self.stop.is_set, lambda kind, _: self.told.append(kind))
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.processes.go_on(["prepare"], self.files)
        except BaseException as error:
            self.raised.append(error)

    def ended(self) -> list[BaseException]:
        self._thread.join(WITHIN)
        assert not self._thread.is_alive()
        return self.raised

    @property
    def worker(self) -> psutil.Process | None:
        found = [each for each in psutil.Process().children() if "trainer.worker" in " ".join(each.cmdline())]
        return found[0] if found else None

    def is_held(self) -> bool:
        worker = self.worker
        return worker is not None and worker.status() == psutil.STATUS_STOPPED


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def held(home: Home, starter: Path) -> Iterator[Stage]:
    """One that was paused before it began."""
    pause(home, "Ana", time.time)
    stage = Stage(home, starter)
    until(stage.is_held)
    yield stage
    resume(home)
    stage.stop.set()
    stage.ended()


def test_it_is_held_and_goes_on_to_its_end(home: Home, held: Stage) -> None:
    worker = held.worker
    assert worker is not None
    before = worker.cpu_times().user
    time.sleep(1.0)
    assert worker.cpu_times().user == before
    assert held.told == ["paused"]
    resume(home)
    assert held.ended() == []
    assert held.told == ["paused", "resumed"]
    assert held.files.report("prepare").is_file()


def test_a_run_that_is_stopped_meanwhile_ends_at_once(held: Stage) -> None:
    began = time.monotonic()
    held.stop.set()
    assert [type(error) for error in held.ended()] == [RunStopped]
    assert time.monotonic() - began < 5.0
    assert held.worker is None


def test_time_that_is_paused_is_not_taken_from_the_budget(home: Home, starter: Path) -> None:
    pause(home, "Ana", time.time)
    stage = Stage(home, starter, run_seconds=1.0)
    until(stage.is_held)
    left = stage.processes.seconds_left()
    time.sleep(2.0)
    resume(home)
    until(lambda: "resumed" in stage.told)
    # It may be over a moment later, since a second is no time for it, but not for having been held.
    assert stage.processes.seconds_left() > left - 1.0
    assert all(isinstance(error, StageOverBudget) for error in stage.ended())


def test_what_it_took_is_its_work_and_the_pause_is_told_beside(home: Home, starter: Path) -> None:
    stage = Stage(home, starter)
    until(lambda: any(event.kind == "stage_started" for event in read(stage.files.folder)[0]))
    pause(home, "Ana", time.time)
    until(stage.is_held)
    time.sleep(3.0)
    resume(home)
    assert stage.ended() == []
    report = read_json(stage.files.report("prepare"))
    assert 3.0 <= report["paused"] < 4.0
    took = stage.processes.took()
    assert 0 < report["seconds"] < took.seconds
    assert took.paused >= 3.0
    assert report["energy"]["joules"] > 0
    assert "began" not in report
    told = next(event.facts for event in read(stage.files.folder)[0] if event.kind == "stage_took")
    assert told == {name: report[name] for name in ("seconds", "paused", "energy")}
