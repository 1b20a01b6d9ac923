"""Nights: trainings that begin by themselves, that the morning stops, and that are killed halfway."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from configs.home import Home
from configs.settings import load_settings
from memory.household import Household
from memory.runs import Run
from tests.project import ROOT
from tests.trainer.household import PAIRS, SMALL, events, finish, small_settings, teach, wait_for
from tests.trainer.night.test_hours import MADRID, shown
from tests.trainer.night.test_markers import names
from trainer.night.scheduler import Scheduler
from trainer.night.stopping import Stopping

# Real trainings, of which some are begun three times, also where the machine has much else to do.
pytestmark = pytest.mark.timeout(900)
LONGEST_S = 400

# Any time of day, and a machine that may be as warm and as unplugged as it is.
ANY_TIME: dict[str, Any] = {
    "pairs": len(PAIRS),
    "quiet_from": "00:00",
    "quiet_to": "00:00",
    "mains_only": False,
    "begin_below_celsius": 200,
    "stop_above_celsius": 200,
    "idle_seconds": 0,
    "look_seconds": 0.2,
    "retry_seconds": 0,
}


def a_family(home: Home, *, recipe: str = "family", **changes: object) -> None:
    """Two corrections, of which a training is due: a few steps, each of them kept, and a gate that lets all pass."""
    small = json.loads(json.dumps(SMALL["training"]))
    small["recipes"]["family"]["optimiser"]["epochs"] = 6
    small["gate"] |= {"lessons_right": 0.0, "lessons_kept": 0.0}
    small |= {"budget": {"checkpoint_seconds": 0}, "night": {**ANY_TIME, **changes}, "recipe": recipe}
    teach(home, small_settings(home, small))


def process_of(home: Home, what: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "trainer.night", what, "--home", str(home.root)],
        cwd=ROOT,
        env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def told(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def once(home: Home) -> list[str]:
    """The kinds of what is told when the timer looks once."""
    code, out, err = finish(process_of(home, "once"), LONGEST_S)
    assert (code, err) == (0, "")
    return [event["kind"] for event in told(out)]


def state(home: Home) -> dict[str, Any]:
    code, out, err = finish(process_of(home, "status"))
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


def runs(home: Home) -> list[Run]:
    """The oldest first."""
    with Household.open(home, load_settings(home, {}).memory) as household:
        return household.runs.list()[::-1]


def begun(home: Home, number: int) -> Callable[[], bool]:
    """Whether so many trainings have told that they began."""
    return lambda: len(list(home.runs.iterdir())) == number and bool(events(home))


def training_of(scheduler: subprocess.Popen[str]) -> psutil.Process:
    (training,) = (child for child in psutil.Process(scheduler.pid).children() if "run" in child.cmdline())
    return training


def test_enough_corrections_are_trained_with_nobody_asking_and_then_there_is_nothing_to_do(home: Home) -> None:
    a_family(home)
    before = state(home)
    assert (before["pairs"], before["marker"], before["reasons"], before["scheduler"]) == (2, None, [], False)
    process = process_of(home, "run")
    try:
        wait_for(lambda: names(home) == ["0001.completed"], LONGEST_S)
        assert state(home)["scheduler"] is True
        code, _, err = finish(process_of(home, "run"))
        assert (code, json.loads(err)["code"]) == (1, "scheduler_running")
    finally:
        process.terminate()
    code, out, err = finish(process)
    assert (code, err) == (0, "")
    begins, ended, *later = told(out)
    assert begins["kind"] == "begins"
    assert ended == {"kind": "ended", "run": "r0001", "state": "shipped", "snapshot": "v1"}
    assert [event["kind"] for event in later] == ["waiting"]
    assert [run.state for run in runs(home)] == ["shipped"]
    after = state(home)
    assert (after["pairs"], after["marker"], after["scheduler"]) == (0, None, False)
    assert [reason["code"] for reason in after["reasons"]] == ["few_pairs"]


def test_the_morning_stops_a_training_and_the_next_night_goes_on_with_it(home: Home) -> None:
    a_family(home, quiet_from="23:00", quiet_to="07:00")
    for night, evening in enumerate((shown("2026-01-11 23:30"), shown("2026-01-12 23:00")), 1):
        heard: list[tuple[str, Mapping[str, Any]]] = []
        stopping = Stopping()
        night_of_one_training(home, stopping, evening, begun(home, night), heard)
        stopping.close()
        assert [kind for kind, _ in heard] == ["begins", "stopping", "ended"]
        assert [reason["code"] for reason in heard[1][1]["reasons"]] == ["not_quiet"]
        assert names(home) == ["0001.pending"]
        assert [run.state for run in runs(home)] == ["stopped"] * night
    assert "taken_up" in [event.kind for event in events(home)]


def night_of_one_training(
    home: Home,
    stopping: Stopping,
    evening: float,
    has_begun: Callable[[], bool],
    heard: list[tuple[str, Mapping[str, Any]]],
) -> None:
    """One look in the ``evening``, which is over as soon as the training has begun."""

    def tell(kind: str, facts: Mapping[str, Any]) -> None:
        heard.append((kind, facts))

    def clock() -> float:
        return evening + 12 * 3600 if has_begun() else evening

    madrid = {**os.environ, "ENLACE_ASSISTANT__TIME_ZONE": MADRID.key}
    Scheduler(home, madrid, stopping, tell, clock=clock).look()


def test_told_to_end_it_ends_its_training_and_killed_with_it_another_takes_the_training_on(home: Home) -> None:
    a_family(home)
    scheduler = process_of(home, "run")
    wait_for(begun(home, 1), LONGEST_S)
    scheduler.terminate()
    code, _, err = finish(scheduler, LONGEST_S)
    assert (code, err) == (0, "")
    assert names(home) == ["0001.pending"]
    assert [run.state for run in runs(home)] == ["stopped"]

    scheduler = process_of(home, "run")
    wait_for(begun(home, 2), LONGEST_S)
    training = training_of(scheduler)
    for process in (psutil.Process(scheduler.pid), training):
        process.kill()
    finish(scheduler, LONGEST_S)
    assert names(home) == ["0001.claimed"]
    assert [run.state for run in runs(home)] == ["stopped", "stopped"]
    assert state(home)["reasons"] == []

    # It comes to a quick end, having begun.
    small_settings(home, {"recipe": "grandmother's", "night": ANY_TIME})
    assert once(home) == ["begins", "ended"]
    assert names(home) == ["0001.pending"]


def test_a_training_whose_scheduler_was_killed_goes_on_and_no_other_is_begun_beside_it(home: Home) -> None:
    a_family(home)
    scheduler = process_of(home, "run")
    wait_for(begun(home, 1), LONGEST_S)
    training = training_of(scheduler)
    scheduler.kill()
    finish(scheduler, LONGEST_S)
    try:
        assert [reason["code"] for reason in state(home)["reasons"]] == ["trainer_busy"]
        assert once(home) == ["waiting"]
        assert training.is_running()
    finally:
        training.terminate()
    wait_for(lambda: runs(home)[0].state != "running", LONGEST_S)
    assert state(home)["reasons"] == []


def test_one_that_fails_is_tried_again_later_and_its_marker_stays(home: Home) -> None:
    a_family(home, recipe="grandmother's", retry_seconds=3600)
    assert once(home) == ["begins", "ended"]
    assert names(home) == ["0001.pending"]
    (failed,) = runs(home)
    assert (failed.state, failed.summary["code"]) == ("failed", "recipe_unknown")
    assert once(home) == ["waiting"]
    assert len(runs(home)) == 1
    assert [reason["code"] for reason in state(home)["reasons"]] == ["tried_lately"]


def test_a_home_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    gone = Home(tmp_path / "gone")
    assert once(gone) == []
    assert not gone.root.exists()


def test_the_timer_takes_over_from_another_machine_that_gives_no_sign_for_the_time_of_a_lease(home: Home) -> None:
    a_family(home, recipe="grandmother's", lease_seconds=0.5)
    home.night.mkdir()
    theirs = home.night / "0001.claimed.attic.aaaa-bbbb_17_99"
    theirs.write_text(json.dumps({"written_at": 1.0, "pairs": 2, "judged": ""}))
    assert once(home) == ["waiting", "begins", "ended"]
    assert names(home) == ["0001.pending"]
