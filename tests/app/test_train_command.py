"""What ``enlace train`` makes of what a run writes: progress, the verdict with its numbers, and the exit code."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path

import psutil
import pytest

from app.commands.training_view import TrainingDetached, show_status, watch
from app.report.reading import read_story
from app.session import Session
from app.training import start_training
from configs.errors import EnlaceError
from memory.runlog import RunEvent, append
from memory.runs import Run, State
from tests.app.conftest import Run as RunCommand

CHECKS = [
    {"name": "lessons_right", "value": 0.5, "bound": 0.85, "at_least": True, "ok": False},
    {"name": "unrelated_kl", "value": 0.028, "bound": 0.1, "at_least": False, "ok": True},
]


def a_run(session: Session, decision: str | None, state: State, failure: dict[str, object] | None = None) -> Run:
    """A run of this process that wrote what a trainer writes, and ended in ``state``."""
    runs = session.household.runs
    run = runs.create("lessons")
    folder = session.home.runs / run.id
    folder.mkdir()
    append(folder, RunEvent(1.0, "run_started"))
    append(folder, RunEvent(2.0, "stage_started", "train", 0.1))
    append(folder, RunEvent(3.0, "step", "train", 0.5, {"loss": 1.234, "step": 5, "steps": 10}))
    if decision:
        reasons = [check["name"] for check in CHECKS if not check["ok"]] if decision == "HOLD" else []
        append(folder, RunEvent(4.0, "verdict", "", 0.99, {"decision": decision, "checks": CHECKS, "reasons": reasons}))
    if failure:
        append(folder, RunEvent(5.0, "run_failed", "", None, failure))
    if state != "running":
        runs.finish(run.id, state, snapshot="v1" if state == "shipped" else None)
    return run


@pytest.mark.parametrize(
    ("decision", "state", "code", "said"),
    [
        ("HOLD", "held", 3, "HOLD: Lessons answered right"),
        ("SHIP", "shipped", 0, "snapshot v1 answers from now on"),
        (None, "stopped", 1, ""),
    ],
)
def test_a_run_ends_in_its_verdict_with_numbers_and_the_gates_exit_code(
    session: Session, capsys: pytest.CaptureFixture[str], decision: str | None, state: State, code: int, said: str
) -> None:
    run = a_run(session, decision, state)
    assert watch(session, run.id, as_json=False) == code
    out = capsys.readouterr().out
    assert said in out
    assert "Training" in out
    if decision:
        assert "≥ 0.85" in out
        assert "0.028" in out


def test_a_lesson_that_was_left_out_is_named_with_the_reason(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    run = a_run(session, "SHIP", "shipped")
    told = {"id": "a1", "reason": "replaced", "question": "What's our\ndog \x1b[31mcalled?", "by": "b2"}
    append(session.home.runs / run.id, RunEvent(6.0, "measure", "prepare", 0.01, {"name": "lesson_dropped", **told}))
    assert watch(session, run.id, as_json=False) == 0
    assert "corrected again later: “What's our dog called?”" in capsys.readouterr().out
    assert watch(session, run.id, as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["dropped"] == [told]


def test_a_lesson_that_a_rule_failed_on_says_where(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    run = a_run(session, "SHIP", "shipped")
    told = {"id": "a1", "reason": "stumbled", "question": "Who is Toby?", "by": "", "why": "ValueError, rows.py:7"}
    append(session.home.runs / run.id, RunEvent(6.0, "measure", "prepare", 0.01, {"name": "lesson_dropped", **told}))
    assert watch(session, run.id, as_json=False) == 0
    assert "a fault of Enlace's (ValueError, rows.py:7): “Who is Toby?”" in capsys.readouterr().out


def test_a_failed_run_is_told_by_the_trainers_own_error(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    run = a_run(session, None, "failed", {"code": "disk_full", "facts": {"path": "/somewhere"}})
    assert watch(session, run.id, as_json=False) == 1
    assert "/somewhere" in capsys.readouterr().err


def test_a_run_that_failed_after_its_verdict_says_why_and_nothing_that_counts_no_longer(
    session: Session, capsys: pytest.CaptureFixture[str], here: RunCommand
) -> None:
    told: dict[str, object] = {"code": "lessons_taken_back", "facts": {"run": "r0001", "number": 2}}
    run = a_run(session, "HOLD", "failed", told)
    dropped = {"name": "lesson_dropped", "id": "a1", "reason": "contradicted", "question": "Who?", "by": ""}
    append(session.home.runs / run.id, RunEvent(6.0, "measure", "prepare", 0.01, dropped))
    reason = "Lessons were withdrawn while they were trained (2)"
    assert show_status(session, session.household.runs.get(run.id), as_json=False) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{run.id} · failed\n{reason}")
    assert "Who?" not in out
    assert "HOLD" not in out
    show_status(session, session.household.runs.get(run.id), as_json=True)
    assert json.loads(capsys.readouterr().out)["failure"] == told
    assert watch(session, run.id, as_json=False) == 1
    assert "HOLD" not in capsys.readouterr().out
    session.household.runs.finish(run.id, "failed", summary=told)
    gate = here("train", "gate", run.id)
    assert (gate.code, f"{run.id} ended before its verdict counted. {reason}" in gate.err) == (1, True)
    assert reason in here("train", "history").out
    assert "it begins anew, without them." in here("train", "history", run.id).out


def test_a_run_that_was_killed_says_where_its_end_is_told(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    run = a_run(session, "HOLD", "stopped")
    assert show_status(session, session.household.runs.get(run.id), as_json=False) == 0
    assert f"Training {run.id} ended before its verdict" in capsys.readouterr().out


def test_a_run_that_takes_up_an_interrupted_one_says_which(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    run = a_run(session, "SHIP", "shipped")
    append(session.home.runs / run.id, RunEvent(6.0, "taken_up", "", None, {"run": "r0007"}))
    watch(session, run.id, as_json=False)
    assert "I go on from where the training r0007 was interrupted." in capsys.readouterr().out


def test_a_run_that_goes_on_from_an_earlier_training_says_from_which(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    run = a_run(session, "SHIP", "shipped")
    told = {"snapshot": "v6", "new": 10, "learned": 60}
    append(session.home.runs / run.id, RunEvent(6.0, "going_on", "", None, told))
    watch(session, run.id, as_json=False)
    assert "I go on from v6: lessons that are new or were not right, 10;" in capsys.readouterr().out
    assert read_story(session.home.runs / run.id, run).onward == "v6"


def test_a_training_with_other_numbers_is_told_and_followed(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    run = a_run(session, None, "running")
    folder = session.home.runs / run.id
    facts = {"learning_rate": 0.0006, "epochs": 8, "rank": 16}
    append(folder, RunEvent(6.0, "choice_started", "", None, {**facts, "folder": "search/a"}))
    (folder / "search" / "a").mkdir(parents=True)
    append(folder / "search" / "a", RunEvent(7.0, "step", "train", 0.3, {"loss": 9.87, "step": 2, "steps": 10}))
    assert show_status(session, run, as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["loss"], told["fraction"]) == (9.87, 0.3)
    append(folder, RunEvent(8.0, "choice_done", "", None, {**facts, "seconds": 1.0, "best": False}))
    append(folder, RunEvent(9.0, "step", "train", 0.9, {"loss": 0.5, "step": 3, "steps": 10}))
    show_status(session, run, as_json=True)
    assert json.loads(capsys.readouterr().out)["loss"] == 0.5
    session.household.runs.finish(run.id, "shipped", snapshot="v1")
    watch(session, run.id, as_json=False)
    assert "Trying other numbers: learning rate 0.0006, 8 epochs, rank 16." in capsys.readouterr().out


def test_ctrl_c_leaves_the_training_alone(session: Session) -> None:
    run = a_run(session, None, "running")
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(TrainingDetached):
        watch(session, run.id, as_json=False)
    assert session.household.runs.get(run.id).state == "running"
    session.household.runs.finish(run.id, "stopped")


def trainer_that(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    """From now on this shell script runs in the place of the trainer."""
    trainer = folder / "python"
    trainer.write_text(f"#!/bin/sh\n{script}\n")
    trainer.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(trainer))


def test_a_run_that_somebody_else_starts_in_the_same_moment_is_not_taken_for_ones_own(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    session.snapshot()
    refusal = {"code": "run_already_running", "facts": {"id": "r0001"}}
    trainer_that(monkeypatch, tmp_path, f"sleep 1; echo '{json.dumps(refusal)}' >&2; exit 1")
    other = threading.Timer(0.4, a_run, (session, None, "running"))
    other.start()
    with pytest.raises(EnlaceError) as caught:
        start_training(session)
    other.join()
    assert (caught.value.code, caught.value.facts["id"]) == ("run_already_running", "r0001")
    session.household.runs.finish("r0001", "stopped")


def test_ctrl_c_before_a_training_has_begun_ends_it(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    session.snapshot()
    trainer_that(monkeypatch, tmp_path, f"echo $$ > {tmp_path}/pid; exec sleep 60")
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        start_training(session)
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


def test_status_and_history_tell_of_a_run_that_goes_on(here: RunCommand, session: Session) -> None:
    run = a_run(session, None, "running")
    status = here("train", "status")
    assert "running" in status.out
    assert "50%" in status.out
    assert "1.234" in status.out
    told = json.loads(here("train", "status", "--json").out)
    assert (told["stage"], told["fraction"], told["loss"]) == ("train", 0.5, 1.234)
    assert [entry["id"] for entry in json.loads(here("train", "history", "--json").out)] == [run.id]
    assert here("train", "now").code == 1


def test_history_tells_what_also_a_training_took_that_failed(here: RunCommand, session: Session) -> None:
    run = a_run(session, None, "running")
    energy = {"joules": 3600.0, "estimated": 60.0, "sources": ["rapl"]}
    cost = {"seconds": 240.0, "paused": 600.0, "energy": energy}
    session.household.runs.finish(run.id, "failed", summary={"code": "disk_full", "facts": {}, "cost": cost})
    told = here("train", "history").out
    assert "4 min 0 s, and 10 min 0 s paused" in told
    assert "≈ 1 Wh" in told


def test_a_training_without_lessons_says_what_is_missing(here: RunCommand) -> None:
    ran = here("train", "now")
    assert ran.code != 0
    assert "Traceback" not in ran.err
    assert ran.err.strip()


def test_trainings_are_paused_and_resumed_by_hand(here: RunCommand, session: Session) -> None:
    assert "No training will begin." in here("train", "pause").out
    assert json.loads(here("train", "pause", "--json").out)["who"] == session.member.name
    assert "has paused the trainings" in here("train", "status").out
    refused = here("train", "now")
    assert refused.code == 1
    assert f"Trainings are paused ({session.member.name})." in refused.err
    assert "Trainings go on." in here("train", "resume").out
    assert "Trainings were not paused." in here("train", "resume").out
    run = a_run(session, None, "running")
    assert "The training is paused" in here("train", "pause").out
    assert json.loads(here("train", "resume", "--json").out) == {"paused": False, "was_paused": True}
    session.household.runs.finish(run.id, "stopped")
