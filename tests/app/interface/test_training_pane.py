"""The side of trainings stays true while somebody looks at it, and starts nothing by one key."""

from __future__ import annotations

import os

import pytest

from app.session import Session
from configs.home import Home
from tests.app.interface.conftest import Opener
from tests.app.interface.test_learning import learning


@pytest.fixture
def session(home: Home) -> Session:
    """The home as it is before the interface opens."""
    return Session({"ENLACE_HOME": str(home.root), "LANG": "es"})


async def test_what_keeps_a_training_from_beginning_is_found_out_anew_when_one_ends(
    session: Session, open_interface: Opener
) -> None:
    lessons = session.memory.lessons
    asked = [[{"role": "user", "content": f"¿Caja {number}?"}] for number in range(2)]
    taught = [lessons.add(question, "Un tren.", visibility="shared") for question in asked]
    run = session.household.runs.create("lessons", pid=os.getpid())
    session.household.runs.give(run.id, [lesson.id for lesson in taught])
    async with open_interface() as person:
        await learning(person, "f3")
        await person.until(lambda: person.find("TrainingPane")._reasons)  # type: ignore[attr-defined]
        session.household.runs.finish(run.id, "held")
        await person.until(lambda: "Hay 0 correcciones" in person.screen_text())


async def test_a_training_starts_at_the_second_key_only(session: Session, open_interface: Opener, home: Home) -> None:
    async with open_interface() as person:
        await learning(person, "f3", "e")
        await person.until(lambda: "E otra vez para empezar" in person.screen_text())
        assert not home.trainer_log.exists()
        await person.pilot.press("e")
        # There is nothing to learn yet, which the trainer says.
        await person.until(lambda: home.trainer_log.exists())
        await person.until(lambda: "No hay" in person.screen_text())
