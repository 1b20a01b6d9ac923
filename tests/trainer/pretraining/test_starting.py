"""Processes of one run are begun together, stopped together, and one that fails takes the others along."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from configs.home import Home
from configs.pretraining.places import Places
from tests.trainer.pretraining.tiny import tiny
from trainer.pretraining.starting import carry_together

STAYS = "import time; open(sys.argv[1] + rank, 'w'); time.sleep(60)"
WAITS = f"import signal; signal.signal(15, lambda *_: sys.exit(130)); {STAYS}"
LOST = """sys.stderr.write('{"code": "process_lost", "facts": {}}\\n'); sys.exit(1)"""


@pytest.fixture
def places(home: Home) -> Places:
    return Places(home, tiny("hardware.processes=2"))


def command(first: str, second: str, *arguments: str) -> list[str]:
    """What the first process does, and what the second."""
    begins = "import os, sys; rank = os.environ['RANK']; "
    return [sys.executable, "-c", f"{begins}exec({first!r} if rank == '0' else {second!r})", *arguments]


def test_all_processes_end_well_where_each_does(places: Places) -> None:
    assert carry_together(command("", ""), places, 5, lambda: False) == 0


def test_all_processes_are_asked_to_end_once_somebody_stops_them(places: Places, tmp_path: Path) -> None:
    def both_wait() -> bool:
        return len(list(tmp_path.glob("waits*"))) == 2

    assert carry_together(command(WAITS, WAITS, str(tmp_path / "waits")), places, 5, both_wait) == 130


def test_what_the_one_that_failed_says_is_said_and_not_what_those_say_that_lost_it(
    places: Places, capfd: pytest.CaptureFixture[str]
) -> None:
    fails = "sys.stderr.write('why'); sys.exit(2)"
    assert carry_together(command(LOST, fails), places, 5, lambda: False) == 2
    assert capfd.readouterr().err == "why"


def test_one_that_fails_ends_those_that_would_wait_for_it(places: Places, tmp_path: Path) -> None:
    both = command(STAYS, "sys.exit(3)", str(tmp_path / "waits"))
    assert carry_together(both, places, 0.2, lambda: False) == 3


def test_one_that_was_killed_is_told_of_by_its_signal(places: Places, capfd: pytest.CaptureFixture[str]) -> None:
    assert carry_together(command(LOST, "os.kill(os.getpid(), 9)"), places, 5, lambda: False) == 1
    assert capfd.readouterr().err == "signal 9\n"


def test_what_a_run_before_left_of_its_meeting_is_gone_before_anybody_comes(places: Places) -> None:
    places.folder.mkdir(parents=True)
    (places.folder / "meeting").write_text("a process that is gone", encoding="utf-8")
    there = f"import pathlib; sys.exit(int(pathlib.Path({str(places.folder / 'meeting')!r}).exists()))"
    assert carry_together(command(there, there), places, 5, lambda: False) == 0
