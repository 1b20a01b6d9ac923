"""The files of a run: whole or not there, and what measures is never among what trains."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from configs.home import Home
from tests.project import ROOT
from tests.trainer.household import finish as finished
from tests.trainer.household import small_settings, start_run, teach
from trainer.errors import NoRoom
from trainer.room import write_whole


def test_a_file_that_cannot_be_put_in_place_leaves_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "run" / "data.json"
    (target / "inside").mkdir(parents=True)
    with pytest.raises(NoRoom):
        write_whole(target, b"[]")
    assert list(target.parent.iterdir()) == [target]


def test_a_stage_that_has_no_room_to_begin_is_said_in_a_sentence(home: Home) -> None:
    teach(home, small_settings(home))
    (home.runs / "r0001").mkdir()
    (home.runs / "r0001" / "prepare").write_text("")
    code, _, err = finished(start_run(home))
    assert code == 1
    assert "training_no_room" in err


def test_a_worker_whose_starter_is_gone_does_nothing(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    worker = [sys.executable, "-m", "trainer.worker", "prepare", str(tmp_path / "run"), str(ended.pid)]
    assert subprocess.run(worker, cwd=ROOT, timeout=60, check=False).returncode == 1
    assert not (tmp_path / "run").exists()
