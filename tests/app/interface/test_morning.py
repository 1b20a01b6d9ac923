"""The morning card lies in the empty conversation once, and one key goes back from what it tells of."""

from __future__ import annotations

import pytest

from app.session import Session
from configs.home import Home
from memory.runlog import RunEvent, append
from tests.app.interface.conftest import Opener
from tests.app.report.test_card import Nights


@pytest.fixture
def nights(home: Home) -> Nights:
    session = Session({"ENLACE_HOME": str(home.root), "LANG": "es"})
    session.household.members.add("Ana", "es")
    nights = Nights(session)
    nights.trained(nights.taught("¿Cómo se llama el perro?", "Se llama Kaspar."))
    return nights


async def test_it_is_shown_at_the_first_opening_after_a_night_and_not_again(
    nights: Nights, open_interface: Opener
) -> None:
    async with open_interface() as person:
        await person.until(lambda: "Ana, he aprendido 1 cosa, y ya responde v1." in person.screen_text())
        shown = person.screen_text()
        assert "antes ✗ I do not know." in shown
        assert "ahora ✓ Se llama Kaspar." in shown
        assert "Deshacer y volver a v0 Ctrl+Z" in shown
        assert "✗ Lecciones bien respondidas 0.5 ≥ 0.8 no pasa" in " ".join(shown.split())
        assert person.chat.composer.has_focus
    async with open_interface() as person:
        assert "he aprendido" not in person.screen_text()
        assert "Hola, Ana" in person.screen_text()


async def test_one_key_undoes_the_night_and_the_same_key_has_it_back(nights: Nights, open_interface: Opener) -> None:
    snapshots = nights.session.household.snapshots
    async with open_interface() as person:
        await person.until(lambda: "Deshacer y volver a v0" in person.screen_text())
        await person.pilot.press("ctrl+z")
        await person.until(lambda: "Vuelve a responder v0." in person.screen_text())
        assert snapshots.current().id == "v0"
        assert snapshots.history()[0].who == "Ana"
        assert "he aprendido" not in person.screen_text()
        await person.pilot.press("ctrl+z")
        await person.until(lambda: snapshots.current().id == "v1")


async def test_the_key_undoes_nothing_once_the_card_is_away(nights: Nights, open_interface: Opener) -> None:
    async with open_interface() as person:
        await person.until(lambda: "he aprendido" in person.screen_text())
        await person.pilot.press("f2")
        await person.until(lambda: "he aprendido" not in person.screen_text())
        await person.pilot.press("ctrl+z")
        await person.until(lambda: "No hay nada que deshacer." in person.screen_text())
        assert nights.session.snapshot().id == "v1"


@pytest.mark.parametrize("size", [(120, 36), (80, 24)])
async def test_a_long_card_is_read_from_its_beginning(
    nights: Nights, open_interface: Opener, size: tuple[int, int]
) -> None:
    lessons = [nights.taught(f"¿Número {number}? " + "Y qué más. " * 30, "Esto. " * 60) for number in range(12)]
    nights.trained(*lessons)
    async with open_interface(size=size) as person:
        await person.until(lambda: "he aprendido 12 cosas" in person.screen_text())
        assert "Deshacer y volver a v1 Ctrl+Z" in person.screen_text()
        await person.pilot.press(*["pagedown"] * 5)
        await person.pilot.pause()
        assert "y 4 más" in person.transcript_text()
        assert "≥ 0.8" in person.screen_text()


async def test_on_a_small_terminal_what_came_of_it_the_keys_and_three_questions_are_seen_at_once(
    nights: Nights, open_interface: Opener
) -> None:
    nights.trained(*(nights.taught(f"¿Número {number}?", f"El {number}.") for number in range(5)))
    async with open_interface(size=(80, 24)) as person:
        await person.until(lambda: "he aprendido 5 cosas" in person.screen_text())
        assert "Deshacer y volver a v1 Ctrl+Z" in person.screen_text()
        assert person.screen_text().count("ahora ✓ El ") == 3


async def test_one_that_comes_while_the_interface_is_open_is_told_at_once(
    nights: Nights, open_interface: Opener
) -> None:
    async with open_interface() as person:
        await person.until(lambda: "ya responde v1" in person.screen_text())
        await person.until(lambda: "v1" in person.screen_text().splitlines()[-1])
        nights.trained(nights.taught("¿Y el gato?", "Mía."))
        await person.until(lambda: "ya responde v2" in person.screen_text())


async def test_a_night_that_was_held_says_that_nothing_changed(nights: Nights, open_interface: Opener) -> None:
    nights.trained(nights.taught("¿Y el gato?", "Mía."), ship=False)
    async with open_interface() as person:
        await person.until(lambda: "no pasó el control: no ha cambiado nada" in person.screen_text())
        assert "Deshacer" not in person.screen_text()
        assert "al probar ✓ Mía." in person.screen_text()


async def test_one_that_answers_on_somebodys_word_says_on_whose(nights: Nights, open_interface: Opener) -> None:
    run = nights.trained(nights.taught("¿Y el gato?", "Mía."))
    facts = {"who": "Luis", "why": "Están bien.", "at": 0.0, "snapshot": run.snapshot}
    append(nights.session.home.runs / run.id, RunEvent(2.0, "overridden", facts=facts))
    async with open_interface() as person:
        await person.until(lambda: "Responde a pesar de todo: lo dijo Luis" in person.screen_text())
        await person.pilot.press("f9", "f3")
        await person.until(lambda: person.app.screen.query("TrainingPane"))
        person.find("TrainingPane").scroll_end(animate=False)
        await person.until(lambda: "porque: Están bien." in person.screen_text())
