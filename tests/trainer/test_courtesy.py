"""A worker waits while somebody is answered, but not for ever."""

from __future__ import annotations

import fcntl
import os
import pty
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from trainer.courtesy import AUTOGROUP, NICEST, Courtesy

# Linux has the feature, unless its kernel was built without.
GROUPED = pytest.mark.skipif(not AUTOGROUP.exists(), reason="this kernel does not share out by session")
STEPS_BACK = [
    sys.executable,
    "-c",
    "from trainer.courtesy import AUTOGROUP, step_back; step_back(); print(AUTOGROUP.read_text())",
]


def test_nobody_being_answered_costs_no_wait(tmp_path: Path) -> None:
    (tmp_path / "busy").touch()
    for flag in (tmp_path / "busy", tmp_path / "not there"):
        courtesy = Courtesy(flag, longest=5, poll=0.01)
        courtesy()
        assert courtesy.waited == 0.0


def test_it_waits_until_the_answer_is_written(tmp_path: Path) -> None:
    with (tmp_path / "busy").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        courtesy = Courtesy(tmp_path / "busy", longest=30, poll=0.01)
        release = threading.Timer(0.2, lambda: fcntl.flock(held, fcntl.LOCK_UN))
        release.start()
        courtesy()
        release.join()
    assert 0.1 < courtesy.waited < 20


def test_it_waits_no_longer_than_its_bound(tmp_path: Path) -> None:
    with (tmp_path / "busy").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        courtesy = Courtesy(tmp_path / "busy", longest=0.1, poll=0.01)
        start = time.monotonic()
        courtesy()
        assert time.monotonic() - start < 20
    assert courtesy.waited >= 0.1


@GROUPED
def test_a_worker_leaves_the_processor_to_other_sessions_too() -> None:
    said = subprocess.run(STEPS_BACK, start_new_session=True, capture_output=True, text=True, check=True).stdout
    assert said.split()[-2:] == ["nice", str(NICEST)]


@GROUPED
def test_a_worker_at_somebodys_terminal_leaves_the_rest_of_that_terminal_as_it_is() -> None:
    terminal, theirs = pty.openpty()
    at_it = ["setsid", "--ctty", "--wait", *STEPS_BACK]
    said = subprocess.run(at_it, stdin=theirs, capture_output=True, text=True, check=True).stdout
    os.close(theirs)
    os.close(terminal)
    assert said.split()[-2:] == ["nice", "0"]
