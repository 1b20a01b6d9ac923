"""What waits and what contradicts is shown to everybody, and decided with a key by whoever administers."""

from __future__ import annotations

import pytest

from app.session import Session
from configs.home import Home
from memory.lessons import Lesson
from memory.pausing import paused
from tests.app.interface.conftest import Opener, Person

ASKED = "¿Cómo se llama nuestro perro?"


@pytest.fixture
def session(home: Home) -> Session:
    """The home as it is before the interface opens: Ana administers, Leo is a child."""
    made = Session({"ENLACE_HOME": str(home.root), "LANG": "es"})
    members = made.household.members
    members.default(name="Ana")
    members.add("Leo", "es")
    members.set_standing("Leo", "child")
    members.add("Eva", "es")
    return made


def teach(session: Session, name: str, question: str, chosen: str) -> Lesson:
    """A correction that this member shares."""
    member = session.household.members.get(name)
    asked = [{"role": "user", "content": question}]
    return session.household.member(member.id).lessons.add(asked, chosen, visibility="shared")


async def decide(person: Person) -> None:
    await person.pilot.press("f9", "f5")
    await person.until(lambda: "Por decidir" in person.screen_text())
    await person.pilot.pause()
    person.find("#decide-list").focus()


async def test_a_childs_lesson_says_among_the_lessons_that_it_waits(session: Session, open_interface: Opener) -> None:
    lesson = teach(session, "Leo", "¿Quién manda?", "Manda Leo.")
    async with open_interface() as person:
        await person.pilot.press("f9")
        await person.until(lambda: "espera aprobación" in person.screen_text())
        session.household.approvals.approve(lesson.id, "Ana")
        await person.pilot.press("escape", "f9")
        await person.until(lambda: "toda la casa" in person.screen_text())


async def test_a_child_holds_no_training_and_has_no_other_snapshot_answer(
    session: Session, open_interface: Opener, home: Home
) -> None:
    base, snapshots = session.snapshot(), session.household.snapshots
    trained = snapshots.create(
        base.base_name, base.base_sha256, adapters=(), parent=base.id, run=None, reason="lessons", gate=None
    )
    snapshots.promote(trained.id, "Ana", "test")
    async with open_interface(member="Leo") as person:
        await person.pilot.press("f9", "f3", "p")
        await person.until(lambda: "Leo es menor o está de visita" in person.screen_text())
        assert paused(home) is None
        await person.pilot.press("f4")
        await person.until(lambda: "● v1" in person.screen_text())
        person.find("SnapshotList").focus()
        await person.pilot.press("down", "v")
        await person.until(lambda: "Leo es menor o está de visita" in person.screen_text())
        assert snapshots.current().id == "v1"


async def test_a_childs_lesson_is_approved_with_a_key_and_that_is_undone(
    session: Session, open_interface: Opener
) -> None:
    lesson = teach(session, "Leo", "¿Qué comemos?", "Pizza.")
    approvals = session.household.approvals
    async with open_interface() as person:
        await person.until(lambda: "1 por decidir · F9 F5" in person.screen_text())
        await decide(person)
        await person.until(lambda: "◌ Leo: ¿Qué comemos?" in person.screen_text())
        assert "Hasta que lo apruebes solo le responde a Leo" in " ".join(person.screen_text().split())
        await person.pilot.press("a")
        await person.until(lambda: "Aprobada" in person.screen_text())
        assert approvals.waiting() == []
        assert "No hay nada que decidir." in person.screen_text()
        await person.pilot.press("ctrl+z")
        await person.until(lambda: [each.id for each in approvals.waiting()] == [lesson.id])
        await person.pilot.press("delete")
        await person.until(lambda: "Rechazada" in person.screen_text())
        assert session.memory.lessons.get(lesson.id).status == "withdrawn"
        await person.pilot.press("ctrl+z", "escape")
        await person.until(lambda: "1 por decidir" in person.screen_text())


async def test_of_what_two_members_say_one_stays_with_a_key_and_that_is_undone(
    session: Session, open_interface: Opener
) -> None:
    right, wrong = teach(session, "Eva", ASKED, "Se llama Toby."), teach(session, "Leo", ASKED, "Se llama Rex.")
    session.household.approvals.approve(wrong.id, "Ana")
    lessons = session.memory.lessons
    async with open_interface() as person:
        await decide(person)
        await person.until(lambda: f"≠ {ASKED}" in person.screen_text())
        await person.until(lambda: "1 Eva" in " ".join(person.screen_text().split()))
        shown = " ".join(person.screen_text().split())
        assert "2 Leo" in shown
        assert "Se llama Rex." in shown
        assert "No se entrena ninguna hasta que decidas" in shown
        await person.pilot.press("1")
        await person.until(lambda: "Se queda «Se llama Toby.»" in person.screen_text())
        assert (lessons.get(right.id).status, lessons.get(wrong.id).status) == ("active", "withdrawn")
        assert f"≠ {ASKED}" not in person.screen_text()
        await person.pilot.press("ctrl+z")
        await person.until(lambda: lessons.get(wrong.id).status == "active")
        # It was approved before, and is so still.
        assert session.household.approvals.waiting() == []
        assert f"≠ {ASKED}" in person.screen_text()


async def test_who_does_not_administer_sees_it_and_decides_nothing(session: Session, open_interface: Opener) -> None:
    lesson = teach(session, "Leo", "¿Qué comemos?", "Pizza.")
    async with open_interface() as person:
        await person.pilot.press("ctrl+o")
        await person.until(lambda: "● Ana" in person.screen_text())
        await person.pilot.press("down", "down", "enter")
        await person.until(lambda: person.app.session.member.name == "Eva" and person.app.chat() is not None)
        await person.pilot.pause()
        assert "por decidir · F9" not in person.screen_text()
        await decide(person)
        await person.until(lambda: "Esto lo decide quien administra la casa: Ana." in person.screen_text())
        await person.pilot.press("a", "delete")
        await person.pilot.pause()
        assert [each.id for each in session.household.approvals.waiting()] == [lesson.id]


async def test_whoever_administers_says_with_a_key_who_is_a_child_or_a_guest(
    session: Session, open_interface: Opener
) -> None:
    members = session.household.members
    async with open_interface() as person:
        await person.pilot.press("ctrl+o")
        await person.until(lambda: "Leo · menor" in person.screen_text())
        assert "● Ana · administra" in person.screen_text()
        await person.pilot.press("down", "down", "v")
        await person.until(lambda: "Eva · de visita" in person.screen_text())
        assert members.get("Eva").standing == "guest"
        await person.pilot.press("v", "up", "m", "up", "m")
        await person.until(lambda: "Ana administra la casa" in person.screen_text())
        assert [members.get(name).standing for name in ("Ana", "Leo", "Eva")] == ["trusted", "trusted", "trusted"]
        await person.pilot.press("escape")


async def test_nobody_else_does(session: Session, open_interface: Opener) -> None:
    async with open_interface() as person:
        await person.pilot.press("ctrl+o", "down", "down", "enter")
        await person.until(lambda: person.app.session.member.name == "Eva" and person.app.chat() is not None)
        await person.pilot.pause()
        await person.pilot.press("ctrl+o")
        await person.until(lambda: "● Eva" in person.screen_text())
        assert "M menor" not in person.screen_text()
        await person.pilot.press("down", "m")
        await person.pilot.pause()
        assert session.household.members.get("Leo").standing == "child"
