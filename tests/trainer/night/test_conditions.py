"""What keeps a training from beginning by itself: each reason alone, and none of what the machine cannot tell."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from configs.home import Home
from configs.sections.night import NightSettings
from configs.settings import Settings
from engine.busy import BusyFlag
from memory.runs import Run, State
from tests.trainer.night.test_hours import MADRID, shown
from trainer.night.conditions import Reason, lasting, of_the_house, tried_lately
from trainer.night.machine import Machine

NIGHT, DAY = shown("2026-01-11 03:00"), shown("2026-01-11 15:00")


@pytest.fixture
def night(settings: Settings) -> NightSettings:
    return settings.training.night


@pytest.fixture
def machine(home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    """This machine at night, as if it had neither battery nor sensors, and had answered nobody yet."""
    (tmp_path / "power").mkdir()
    if sys.platform == "linux":
        monkeypatch.setattr("psutil._pslinux.POWER_SUPPLY_PATH", str(tmp_path / "power"))
    monkeypatch.setattr(psutil, "sensors_temperatures", dict)
    return Machine(home.busy_flag, lambda: NIGHT)


def supply(tmp_path: Path, name: str, **values: object) -> None:
    """A power supply as the kernel shows it (sysfs-class-power)."""
    folder = tmp_path / "power" / name
    folder.mkdir(exist_ok=True)
    for file, value in values.items():
        (folder / file).write_text(f"{value}\n")


def warm(monkeypatch: pytest.MonkeyPatch, **sensors: float) -> None:
    found = {name: [SimpleNamespace(current=30.0), SimpleNamespace(current=value)] for name, value in sensors.items()}
    monkeypatch.setattr(psutil, "sensors_temperatures", lambda: found)


def codes(reasons: list[Reason]) -> list[str]:
    return [reason.code for reason in reasons]


def test_at_night_a_machine_that_can_tell_nothing_may_train(night: NightSettings, machine: Machine) -> None:
    assert (machine.on_mains(), machine.celsius(), machine.idle_seconds()) == (None, None, None)
    assert of_the_house(night, NIGHT, machine, MADRID) == []


def test_by_day_none_begins_and_one_that_began_at_night_ends(night: NightSettings, machine: Machine) -> None:
    expected = [Reason("not_quiet", {"begin": "23:00", "end": "07:00"})]
    assert of_the_house(night, DAY, machine, MADRID) == expected
    assert lasting(night, DAY, machine, MADRID, 90) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="these are the files of Linux")
def test_a_battery_keeps_one_from_beginning_until_there_is_mains_power(
    night: NightSettings, machine: Machine, tmp_path: Path
) -> None:
    supply(tmp_path, "BAT0", energy_now=30, energy_full=50, power_now=10, status="Discharging", capacity=60)
    supply(tmp_path, "AC0", online=0)
    assert machine.on_mains() is False
    assert codes(of_the_house(night, NIGHT, machine, MADRID)) == ["on_battery"]
    allowed = night.model_copy(update={"mains_only": False})
    assert of_the_house(allowed, NIGHT, machine, MADRID) == []
    supply(tmp_path, "AC0", online=1)
    supply(tmp_path, "BAT0", status="Charging")
    assert machine.on_mains() is True
    assert of_the_house(night, NIGHT, machine, MADRID) == []


def test_a_warm_processor_keeps_one_from_beginning_and_a_hot_one_ends_it(
    night: NightSettings, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    warm(monkeypatch, coretemp=75.0)
    assert of_the_house(night, NIGHT, machine, MADRID) == [Reason("too_warm", {"celsius": 75, "bound": 70})]
    assert lasting(night, NIGHT, machine, MADRID, night.stop_above_celsius) == []
    warm(monkeypatch, coretemp=95.0)
    assert codes(lasting(night, NIGHT, machine, MADRID, night.stop_above_celsius)) == ["too_warm"]
    # A disk may be as warm as it likes.
    warm(monkeypatch, coretemp=40.0, nvme=99.0)
    assert of_the_house(night, NIGHT, machine, MADRID) == []


@pytest.fixture
def flag(home: Home) -> Iterator[BusyFlag]:
    made = BusyFlag(home.busy_flag)
    yield made
    made.close()


def lowered(home: Home, flag: BusyFlag, seconds_ago: float) -> None:
    """Somebody was answered, that long ago."""
    flag.set()
    flag.clear()
    os.utime(home.busy_flag, (NIGHT - seconds_ago, NIGHT - seconds_ago))


def test_whoever_is_answered_or_was_a_moment_ago_comes_first(
    home: Home, night: NightSettings, machine: Machine, flag: BusyFlag
) -> None:
    flag.set()
    os.utime(home.busy_flag, (NIGHT - 5000, NIGHT - 5000))
    assert of_the_house(night, NIGHT, machine, MADRID) == [Reason("answering", {"quiet_s": 0, "needed_s": 600})]
    lowered(home, flag, 100)
    assert of_the_house(night, NIGHT, machine, MADRID) == [Reason("answering", {"quiet_s": 100, "needed_s": 600})]
    # What goes on gives way to them by itself.
    assert lasting(night, NIGHT, machine, MADRID, 90) == []
    lowered(home, flag, 601)
    assert of_the_house(night, NIGHT, machine, MADRID) == []


def test_a_clock_that_was_set_back_since_somebody_was_answered_makes_nobody_wait(
    home: Home, night: NightSettings, machine: Machine, flag: BusyFlag
) -> None:
    lowered(home, flag, -3600)
    assert of_the_house(night, NIGHT, machine, MADRID) == []


def test_the_engines_flag_says_when_it_was_raised_and_lowered_last(home: Home, flag: BusyFlag) -> None:
    for change in (flag.set, flag.clear):
        os.utime(home.busy_flag, (5, 5))
        change()
        assert home.busy_flag.stat().st_mtime > 5
    with home.busy_flag.open() as mine:
        fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)


def runs(*ended: tuple[State, float | None, str]) -> list[Run]:
    """Trainings, the newest first: state, end, and the code of what it failed by."""
    return [
        Run(f"r{9 - number:04d}", "lessons", state, 0.0, at, None, {"code": code})
        for number, (state, at, code) in enumerate(ended)
    ]


@pytest.mark.parametrize(
    ("ended", "waits"),
    [
        pytest.param([], None, id="none yet"),
        pytest.param([("shipped", NIGHT - 1, "")], None, id="came to a verdict"),
        pytest.param([("stopped", NIGHT - 600, "run_stopped")], 3000, id="stopped by somebody"),
        pytest.param([("stopped", None, "")], None, id="killed"),
        pytest.param([("failed", NIGHT - 600, "x")], 3000, id="failed once"),
        pytest.param([("failed", NIGHT - 600, "x"), ("failed", NIGHT - 9000, "x")], 6600, id="failed twice"),
        pytest.param([("failed", NIGHT - 600, "x"), ("held", NIGHT - 9000, "x")], 3000, id="failed after a verdict"),
        pytest.param([("failed", NIGHT - 600, "x")] * 40, 57000, id="fails always"),
        pytest.param([("failed", NIGHT - 600, "stage_over_budget")], 57000, id="ran out of its time"),
        pytest.param([("failed", NIGHT - 600, "run_too_costly")], 57000, id="would draw more than it may"),
        pytest.param([("failed", NIGHT - 3600, "x")], None, id="long ago"),
        pytest.param([("failed", NIGHT + 600, "x")], None, id="the clock was set back"),
    ],
)
def test_one_that_came_to_no_verdict_is_tried_again_later(
    night: NightSettings, ended: list[tuple[State, float | None, str]], waits: int | None
) -> None:
    found = tried_lately(night, NIGHT, runs(*ended))
    assert found == ([] if waits is None else [Reason("tried_lately", {"run": "r0009", "wait_s": waits})])
