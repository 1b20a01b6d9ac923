"""A lesson that is taken back leaves what past trainings wrote, from the command and from the screen."""

from __future__ import annotations

import json
from pathlib import Path

from app.session import Session
from memory.lessons import Lesson
from tests.app.conftest import Run
from tests.app.report.conftest import ANSWERS, Runs


def learned(session: Session) -> tuple[Lesson, Path]:
    """A shared lesson, and the folder of the run that made the current snapshot of it."""
    lesson = session.memory.lessons.add([{"role": "user", "content": "Secret?"}], "Kaspar.", visibility="shared")
    household, runs = session.household, Runs(session)
    base = session.snapshot()
    told = {"lesson": lesson.id, "question": lesson.question, "after": lesson.chosen, "after_right": True}
    run = runs.judged([*ANSWERS, ANSWERS[0] | told])
    household.runs.give(run.id, [lesson.id])
    made = household.snapshots.create(
        base.base_name, base.base_sha256, adapters=[], parent=base.id, run=run.id, reason="training", gate=None
    )
    household.snapshots.promote(made.id, "Ana", "a test")
    folder = session.home.runs / run.id
    (folder / "manifest.yaml").write_text(f"- id: {lesson.id}\n")
    return lesson, folder


def test_the_command_withdraws_it_everywhere_and_says_which_snapshot_still_knows_it(
    here: Run, session: Session
) -> None:
    lesson, folder = learned(session)
    assert "Kaspar" in here("train", "report").out + (folder / "report.md").read_text()
    ran = here("lessons", "withdraw", lesson.id)
    assert ran.code == 0, ran.err
    assert "v1 still knows it" in ran.out
    assert not any("Kaspar" in path.read_text() for path in folder.rglob("*") if path.is_file())
    page = (folder / "report.md").read_text()
    assert "Lessons have been withdrawn since then (1)" in page
    assert "What is our dog called?" in page
    assert "withdrawn since then (1)" in here("train", "report").out


def test_earlier_snapshots_that_would_bring_it_back_are_named(here: Run, session: Session) -> None:
    lesson, _ = learned(session)
    knowing = session.snapshot()
    made = session.household.snapshots.create(
        knowing.base_name, knowing.base_sha256, adapters=[], parent=knowing.id, run=None, reason="test", gate=None
    )
    session.household.snapshots.promote(made.id, "Ana", "a test")
    ran = here("lessons", "withdraw", lesson.id)
    assert "still knows" not in ran.out
    assert f"gone back to: {knowing.id}." in ran.out


def test_it_is_withdrawn_and_trained_without_in_one_command(here: Run) -> None:
    here("lessons", "add", "--question", "What is it?", "--chosen", "A lamp.")
    ran = here("lessons", "withdraw", "1", "--retrain")
    assert "Withdrawn: What is it?" in ran.out
    # The training has begun: there is nothing else to learn here.
    assert "no shared correction to learn from" in ran.err
    assert ran.code == 1


def test_a_lesson_that_no_snapshot_learned_is_withdrawn_in_one_sentence(here: Run) -> None:
    here("lessons", "add", "--question", "What is it?", "--chosen", "A lamp.")
    assert here("lessons", "withdraw", "1").out == "Withdrawn: What is it?\n"


def test_the_report_is_json_for_programs(here: Run, session: Session) -> None:
    learned(session)
    story = json.loads(here("train", "report", "--json").out)
    assert story["answers"][-1]["after"] == "Kaspar."
    assert story["page"].endswith("report.md")
