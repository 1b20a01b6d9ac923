"""Stages come after what they take; those that do not wait for each other run at once where the settings let them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest

from configs.errors import Reported
from configs.home import Home
from configs.settings import load_settings
from tests.trainer.stages import inputs_for
from trainer.errors import RunStopped
from trainer.pipeline.sources import order_of
from trainer.pipeline.usual import SCORED, USUAL
from trainer.run_files import RunFiles, write_json
from trainer.staging import StageProcesses

BOTH = ("evaluate", "score")


class Scripted(StageProcesses):
    """Each stage does what ``does`` says of it; ``spans``: when each was begun and ended."""

    def __init__(self, home: Home, at_once: int, does: Callable[[str], None]) -> None:
        changes = {"budget": {"stages_at_once": at_once}}
        inputs = replace(inputs_for(home, home.root / "base.gguf", changes), stages={**USUAL, **SCORED})
        settings = load_settings(home, {}, {"training": changes})
        super().__init__(home, settings, lambda: False, lambda kind, facts: None)
        self._does = does
        self.files = RunFiles(home.runs / "r0001")
        write_json(self.files.inputs, inputs.as_json())
        self.order = order_of(inputs)
        self.spans: dict[str, tuple[float, float]] = {}

    def _run(self, stage: str, files: RunFiles, deadline: float) -> None:
        begun = time.monotonic()
        self._does(stage)
        self.spans[stage] = (begun, time.monotonic())
        write_json(files.report(stage), {"seconds": 0.0, "began": begun})


def test_each_stage_begins_when_what_it_takes_has_ended(home: Home) -> None:
    processes = Scripted(home, 1, lambda stage: None)
    processes.go_on(reversed(processes.order), processes.files)
    begun = sorted(processes.spans, key=lambda stage: processes.spans[stage])
    assert begun[:3] == ["prepare", "train", "export"]
    assert set(begun[3:]) == set(BOTH)


def test_branches_run_at_once_where_they_may(home: Home) -> None:
    meeting = threading.Barrier(2, timeout=20)

    def does(stage: str) -> None:
        # Each waits for the other one: one after the other, neither would end.
        if stage in BOTH:
            meeting.wait()

    processes = Scripted(home, 2, does)
    processes.go_on(processes.order, processes.files)
    assert set(processes.spans) == set(processes.order)


def test_with_one_at_a_time_no_two_overlap(home: Home) -> None:
    processes = Scripted(home, 1, lambda stage: time.sleep(0.01))
    processes.go_on(processes.order, processes.files)
    spans = sorted(processes.spans.values())
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_where_one_fails_the_other_is_stopped_and_the_failure_is_told(home: Home) -> None:
    stopped = threading.Event()

    def does(stage: str) -> None:
        if stage == "score":
            raise Reported("loss_not_finite", {"step": 3})
        if stage == "evaluate":
            deadline = time.monotonic() + 20
            while not processes._failing:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            stopped.set()
            raise RunStopped(run="r0001")

    processes = Scripted(home, 2, does)
    with pytest.raises(Reported) as failed:
        processes.go_on(processes.order, processes.files)
    assert (failed.value.code, stopped.is_set()) == ("loss_not_finite", True)
    assert not processes.files.report("score").exists()


def test_what_has_its_report_is_not_begun(home: Home) -> None:
    processes = Scripted(home, 2, lambda stage: None)
    for stage in ("prepare", "train"):
        write_json(processes.files.report(stage), {"seconds": 0.0})
    processes.go_on(processes.order, processes.files)
    assert set(processes.spans) == {"export", *BOTH}
