"""A real stage is measured by what its machine counts meanwhile, and stopped where that is more than it may draw."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from configs.home import Home
from configs.settings import load_settings
from tests.trainer.energy.conftest import Powercap
from tests.trainer.stages import inputs_for
from tests.trainer.test_pausing import FEW
from tests.trainer.test_prepare import DOG, SYSTEM
from trainer.errors import StageTooCostly
from trainer.run_files import RunFiles, read_json, write_json
from trainer.staging import StageProcesses

EVERY_S = 0.02


@contextmanager
def drawing(powercap: Powercap, watts: float) -> Iterator[None]:
    """A machine that draws so much, as its counter says."""
    powercap.zone("intel-rapl:0", "package-0", 0)
    ended = threading.Event()

    def count() -> None:
        counted = 0.0
        while not ended.wait(EVERY_S):
            counted += watts * EVERY_S * 1e6
            # Whole or not at all, as the kernel's files are read.
            (powercap.folder / "next").write_text(str(int(counted)))
            (powercap.folder / "next").replace(powercap.folder / "intel-rapl:0" / "energy_uj")

    counting = threading.Thread(target=count)
    counting.start()
    try:
        yield
    finally:
        ended.set()
        counting.join()


def stage(home: Home, starter: Path, powercap: Powercap, budget: dict[str, Any]) -> tuple[StageProcesses, RunFiles]:
    """The real first stage, to be carried."""
    files = RunFiles(home.runs / "r0001")
    files.folder.mkdir()
    write_json(files.inputs, inputs_for(home, starter, FEW, lessons=(DOG,), system_prompt=SYSTEM).as_json())
    energy = {"powercap": str(powercap.folder), "sample_seconds": 0.1}
    settings = load_settings(home, {}, {"training": {"energy": energy, "budget": budget}})
    return StageProcesses(home, settings, lambda: False, lambda kind, facts: None), files


def test_what_the_machine_counts_is_in_the_stages_report(home: Home, starter: Path, powercap: Powercap) -> None:
    with drawing(powercap, watts=200.0):
        processes, files = stage(home, starter, powercap, {})
        processes.go_on(["prepare"], files)
    report, took = read_json(files.report("prepare")), processes.took()
    assert (report["energy"]["sources"], report["energy"]["estimated"]) == (["rapl"], 0.0)
    # It counts a little less than it says, as its thread waits for others.
    assert 0 < report["energy"]["joules"] <= 201 * took.seconds
    assert took.energy.joules == pytest.approx(report["energy"]["joules"])


def test_a_stage_that_draws_more_than_the_run_may_is_stopped(home: Home, starter: Path, powercap: Powercap) -> None:
    # Other tests may have left processes that serve all of them.
    others = psutil.Process().children()
    with drawing(powercap, watts=200.0):
        processes, files = stage(home, starter, powercap, {"run_watt_hours": 0.01})
        with pytest.raises(StageTooCostly) as raised:
            processes.go_on(["prepare"], files)
    assert raised.value.facts == {"stage": "prepare", "budget": 0.01}
    assert not files.report("prepare").exists()
    assert set(psutil.Process().children()) <= set(others)
