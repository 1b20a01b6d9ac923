"""The screens of learning show what is stored, change it with a way back, and follow a run by its files alone."""

from __future__ import annotations

import os
import time

import pytest

from app.curve import curve
from app.session import Session
from configs.home import Home
from memory.pausing import paused
from memory.runlog import RunEvent, append
from tests.app.interface.conftest import Opener, Person
from tests.app.test_withdrawing import learned

VERDICT = {
    "decision": "HOLD",
    "checks": [
        {"name": "recall_trained", "value": 0.96, "bound": 0.8, "ok": True},
        {"name": "unrelated_kl", "value": 1.56, "bound": 0.1, "ok": False},
    ],
    "reasons": ["unrelated_kl"],
}


@pytest.fixture
def session(home: Home) -> Session:
    """The home as it is before the interface opens."""
    return Session({"ENLACE_HOME": str(home.root), "LANG": "es"})


async def learning(person: Person, *keys: str) -> None:
    await person.pilot.press("f9", *keys)
    await person.until(lambda: "Aprendizaje" in person.screen_text())
    await person.pilot.pause()


async def test_a_lesson_is_seen_with_both_answers_and_found(session: Session, open_interface: Opener) -> None:
    for name in ("perro", "gato"):
        question = [{"role": "user", "content": f"¿Cómo se llama el {name}?"}]
        session.memory.lessons.add(question, f"Se llama {name.title()}o.", "No lo sé.", visibility="shared")
    async with open_interface() as person:
        await learning(person)
        person.find("#lesson-search").value = "PÉRRO"  # type: ignore[attr-defined]
        await person.pilot.pause()
        shown = person.screen_text()
        assert "● ¿Cómo se llama el perro?" in shown
        assert "✓ Se llama Perroo." in shown
        assert "✗ No lo sé." in shown
        assert "gato" not in shown


async def test_a_lesson_is_kept_private_shared_and_withdrawn_each_with_undo(
    session: Session, open_interface: Opener
) -> None:
    lessons = session.memory.lessons
    lesson = lessons.add([{"role": "user", "content": "¿Capital?"}], "Vigo.", "Lugo.", visibility="shared")
    async with open_interface() as person:
        await learning(person)
        person.find("#lesson-list").focus()
        for key, state in (("p", ("private", "active")), ("delete", ("private", "withdrawn"))):
            await person.pilot.press(key)
            await person.pilot.pause()
            now = lessons.get(lesson.id)
            assert (now.visibility, now.status) == state
        await person.pilot.press("ctrl+z", "ctrl+z")
        await person.pilot.pause()
        now = lessons.get(lesson.id)
        assert (now.visibility, now.status) == ("shared", "active")


async def test_what_is_taken_back_on_the_screen_leaves_past_trainings_too(
    session: Session, open_interface: Opener
) -> None:
    lesson, folder = learned(session)
    async with open_interface() as person:
        await learning(person)
        person.find("#lesson-list").focus()
        await person.pilot.press("delete")
        await person.until(lambda: "Kaspar" not in (folder / "evaluate" / "measures.json").read_text())
        assert session.memory.lessons.get(lesson.id).status == "withdrawn"
        assert "v1 todavía la sabe" in " ".join(person.screen_text().split())


async def test_a_running_training_is_followed_from_its_file_and_its_verdict_is_shown(
    session: Session, open_interface: Opener, home: Home
) -> None:
    run = session.household.runs.create("lessons", pid=os.getpid())
    folder = home.runs / run.id
    folder.mkdir(parents=True, exist_ok=True)
    async with open_interface() as person:
        await learning(person, "f3")
        for step in range(1, 21):
            facts = {"loss": 3.0 / step, "step": step, "steps": 40}
            append(folder, RunEvent(time.time(), "step", "train", step / 40, facts))
        await person.until(lambda: "paso 20 de 40 · pérdida 0.150" in person.screen_text())
        assert "50%" in person.screen_text()
        assert "Sigue aunque cierres Enlace." in person.screen_text()
        assert any("\u2801" <= character <= "\u28ff" for character in person.screen_text())
        append(folder, RunEvent(time.time(), "verdict", "gate", 0.95, VERDICT))
        session.household.runs.finish(run.id, "held")
        await person.until(lambda: "HOLD: se queda fuera" in person.screen_text())
        assert "✗ no pasa" in person.screen_text()
        assert "· Cambio en preguntas sin relación" in person.screen_text()
        person.find("TrainingPane").scroll_end(animate=False)
        await person.until(lambda: "retenido" in person.screen_text())


async def test_a_training_that_failed_after_its_verdict_shows_why_and_no_verdict(
    session: Session, open_interface: Opener, home: Home
) -> None:
    run = session.household.runs.create("lessons", pid=os.getpid())
    folder = home.runs / run.id
    folder.mkdir(parents=True, exist_ok=True)
    async with open_interface() as person:
        await learning(person, "f3")
        append(folder, RunEvent(time.time(), "verdict", "gate", 0.95, VERDICT))
        await person.until(lambda: "HOLD: se queda fuera" in person.screen_text())
        told = {"code": "lessons_taken_back", "facts": {"run": run.id, "number": 2}}
        append(folder, RunEvent(time.time(), "run_failed", "", None, told))
        session.household.runs.finish(run.id, "failed", summary=told)
        await person.until(lambda: "se han retirado lecciones (2)" in person.screen_text())
        assert "HOLD" not in person.screen_text()


async def test_a_training_with_other_numbers_is_named_and_its_curve_takes_the_place_of_the_first(
    session: Session, open_interface: Opener, home: Home
) -> None:
    run = session.household.runs.create("lessons", pid=os.getpid())
    folder = home.runs / run.id
    folder.mkdir(parents=True, exist_ok=True)
    numbers = {"learning_rate": 0.0006, "epochs": 8, "rank": 16}
    tried = {"loss": 3.25, "steps": 40}
    async with open_interface() as person:
        await learning(person, "f3")
        append(folder, RunEvent(time.time(), "step", "train", 0.5, {"loss": 7.5, "step": 40, "steps": 40}))
        append(folder, RunEvent(time.time(), "choice_started", facts={**numbers, "folder": "search/a"}))
        await person.until(lambda: "Pruebo otros números: tasa de aprendizaje 0.0006" in person.screen_text())
        (folder / "search" / "a").mkdir(parents=True)
        append(folder / "search" / "a", RunEvent(time.time(), "step", "train", 0.25, {**tried, "step": 1}))
        append(folder / "search" / "a", RunEvent(time.time(), "step", "train", 0.3, {**tried, "step": 2}))
        await person.until(lambda: "paso 2 de 40 · pérdida 3.250" in person.screen_text())
        assert "30%" in person.screen_text()
        assert "7.50" not in person.screen_text()
        append(folder, RunEvent(time.time(), "choice_done", facts={**numbers, "best": True}))
        append(folder, RunEvent(time.time(), "step", "train", None, {"loss": 1.5, "step": 1, "steps": 40}))
        append(folder, RunEvent(time.time(), "step", "train", None, {"loss": 0.5, "step": 2, "steps": 40}))
        await person.until(lambda: "paso 2 de 40 · pérdida 0.500" in person.screen_text())
        assert "Pruebo otros números" not in person.screen_text()
        assert "1.50" in person.screen_text()
        assert "7.50" not in person.screen_text()
        session.household.runs.finish(run.id, "held")


async def test_a_failed_training_says_why(session: Session, open_interface: Opener, home: Home) -> None:
    run = session.household.runs.create("lessons", pid=os.getpid())
    (home.runs / run.id).mkdir(parents=True, exist_ok=True)
    append(home.runs / run.id, RunEvent(time.time(), "run_failed", facts={"code": "disk_full", "facts": {}}))
    session.household.runs.finish(run.id, "failed")
    async with open_interface() as person:
        await learning(person, "f3")
        assert "⚠" in person.screen_text()
        assert "disk_full" not in person.screen_text()


def test_the_curve_falls_from_the_left_to_the_right() -> None:
    rows = curve([4.0, 3.0, 2.0, 1.0, 0.0], 10, 3)
    assert [len(row) for row in rows] == [10, 10, 10]
    assert rows[0][0] != "\u2800"
    assert rows[0][-1] == "\u2800"
    assert rows[-1][-1] != "\u2800"


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 3, [float(n % 7) for n in range(5000)]])
def test_any_number_of_values_fills_the_same_room(values: list[float]) -> None:
    assert [len(row) for row in curve(values, 12, 4)] == [12] * 4


async def test_a_lesson_that_a_training_left_out_is_named_with_the_reason(
    session: Session, open_interface: Opener, home: Home
) -> None:
    run = session.household.runs.create("lessons", pid=os.getpid())
    folder = home.runs / run.id
    folder.mkdir(parents=True, exist_ok=True)
    facts = {"name": "lesson_dropped", "id": "a", "reason": "repeated", "question": "¿Quién es Toby?", "by": "b"}
    append(folder, RunEvent(time.time(), "measure", "prepare", 0.05, facts))
    async with open_interface() as person:
        await learning(person, "f3")
        await person.until(lambda: "se volvió a enseñar lo mismo después: «¿Quién es Toby?»" in person.screen_text())


async def test_a_run_shows_its_stages_and_the_time_left_and_is_paused_with_one_key(
    session: Session, open_interface: Opener, home: Home
) -> None:
    run = session.household.runs.create("lessons", pid=os.getpid())
    folder = home.runs / run.id
    folder.mkdir(parents=True, exist_ok=True)
    began = time.time() - 100
    planned = {"stages": ["prepare", "train", "export", "evaluate"]}
    append(folder, RunEvent(began, "planned", "", None, planned))
    append(folder, RunEvent(began, "stage_started", "prepare", 0.0))
    append(folder, RunEvent(began + 61, "stage_done", "prepare", 0.1, {"seconds": 61.0}))
    append(folder, RunEvent(began + 61, "stage_started", "train", 0.1))
    for step in range(1, 11):
        facts = {"loss": 3.0 / step, "step": step, "steps": 100}
        append(folder, RunEvent(began + 61 + 4 * step, "step", "train", 0.25, facts))
    async with open_interface() as person:
        await learning(person, "f3")
        await person.until(lambda: "▸ Entreno" in person.screen_text())
        shown = " ".join(person.screen_text().split())
        assert "✓ Preparo las lecciones 1 min 1 s" in shown
        assert "○ Mido" in shown
        assert "quedan unos" in shown
        await person.pilot.press("p")
        await person.until(lambda: paused(home) is not None)
        await person.until(lambda: "En pausa (" in person.screen_text())
        await person.pilot.press("escape")
        await person.until(lambda: "entrenamiento en pausa" in person.screen_text())
        await learning(person, "f3")
        await person.pilot.press("p")
        await person.until(lambda: paused(home) is None)
        session.household.runs.finish(run.id, "stopped")


async def test_what_the_next_training_waits_for_fills_up(session: Session, open_interface: Opener) -> None:
    for number in range(5):
        rejected = "No lo sé." if number < 2 else None
        session.memory.lessons.add(
            [{"role": "user", "content": f"¿Caja {number}?"}], "Un tren.", rejected, visibility="shared"
        )
    async with open_interface() as person:
        await learning(person, "f3")
        shown = person.screen_text()
        assert "▓▓░░░░░░░░░░░░░░░░░░ 5 / 50" in shown
        assert "▓░░░░░░░░░░░░░░░░░░░ 2 / 50" in shown
        await person.until(lambda: "Hay 5 correcciones compartidas nuevas" in person.screen_text())
