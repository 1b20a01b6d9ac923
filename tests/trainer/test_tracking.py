"""A run's curves go to trackio where there is one: the steps that count, numbers alone, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from configs.home import Home
from memory.runlog import RunEvent, append
from trainer import tracking

# What trackio 0.43 was seen to take, written down instead of kept.
RECORDER = """
import json, os
calls = {"environ": {key: value for key, value in os.environ.items() if key.startswith(("TRACKIO", "HF_"))}, "logs": []}
def init(project, name=None, embed=True, auto_log_gpu=None, auto_log_cpu=None):
    calls["init"] = [project, name, embed, auto_log_gpu, auto_log_cpu]
def log(metrics, step=None):
    calls["logs"].append([step, metrics])
def finish():
    os.makedirs(os.environ["TRACKIO_DIR"])
    with open(os.path.join(os.environ["TRACKIO_DIR"], "calls.json"), "w") as file:
        json.dump(calls, file)
"""


@pytest.fixture
def folder(home: Home) -> Path:
    """A run that was begun again after its second step."""
    folder = home.runs / "r0001"
    folder.mkdir()
    for number, loss in ((1, 9.0), (2, 8.0), (1, 3.0), (2, 2.0), (3, float("nan"))):
        facts = {"step": number, "steps": 3, "loss": loss, "note": "words", "skipped": False}
        append(folder, RunEvent(0.0, "step", "train", None, facts))
    append(folder, RunEvent(0.0, "validation", facts={"step": 2, "bits_per_byte": 1.5}))
    append(folder, RunEvent(0.0, "measure", facts={"name": "lessons_right", "value": 0.9, "before": 0.1}))
    append(folder, RunEvent(0.0, "measure", facts={"name": "lesson_dropped", "question": "A secret?"}))
    return folder


def test_the_steps_that_count_and_the_measures_are_kept_and_no_server_is_named(
    home: Home, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trackio.py").write_text(RECORDER)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("TRACKIO_SERVER_URL", "https://elsewhere.example")
    monkeypatch.setenv("HF_TOKEN", "secret")
    tracking.leave_curves(folder, "r0001", 30)
    calls = json.loads((home.root / "trackio" / "calls.json").read_text())
    assert calls["init"] == ["enlace", "r0001", False, False, False]
    both = {"loss": 2.0, "validation/bits_per_byte": 1.5}
    assert calls["logs"] == [[1, {"loss": 3.0}], [2, both], [3, {"gate/lessons_right": 0.9}]]
    assert calls["environ"] == {"TRACKIO_DIR": str(home.root / "trackio"), "HF_HUB_OFFLINE": "1"}


def test_without_trackio_nothing_is_left(home: Home, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    tracking.leave_curves(folder, "r0001", 30)
    assert not (home.root / "trackio").exists()


def test_a_run_without_steps_leaves_none(home: Home) -> None:
    folder = home.runs / "r0002"
    folder.mkdir()
    tracking.track(folder, "r0002")
