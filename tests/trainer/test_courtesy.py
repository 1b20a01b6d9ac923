"""A worker waits while somebody is answered, but not for ever."""

from __future__ import annotations

import fcntl
import threading
import time
from pathlib import Path

from trainer.courtesy import Courtesy


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
