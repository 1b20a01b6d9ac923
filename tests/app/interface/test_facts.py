"""The facts on the screen: where each was said, in other words, shared, forgotten, and all of it undone."""

from __future__ import annotations

import pytest
from rich.text import Text

from app.interface.memory.facts import FactsPane
from app.session import Session
from configs.home import Home
from memory.chats import ChatMessage
from tests.app.interface.conftest import Opener, Person


@pytest.fixture
def remembered(home: Home) -> ChatMessage:
    """Two facts of what was said one after the other about the same, and one that was noted."""
    with Session({"ENLACE_HOME": str(home.root)}) as session:
        session.household.members.add("Ana", "es")
        memory = session.memory
        memory.facts.add("La contraseña del portal es 2580")
        for said in ("Trabajo en Talleres Núñez.", "Ahora trabajo en la Gestoría Lacruz."):
            question = memory.chats.question(memory.chats.start().id, said)
            memory.hearing.hear(question)
    return question


def detail(person: Person) -> Text:
    shown = person.app.screen.query_one(FactsPane).query_one(".detail Static").content  # type: ignore[attr-defined]
    assert isinstance(shown, Text)
    return shown


def pane(person: Person) -> FactsPane:
    return person.app.screen.query_one(FactsPane)


async def opened(person: Person, number: int = 2) -> None:
    await person.pilot.press("f12")
    await person.until(lambda: len(pane(person).listing) == number)
    await person.until(lambda: person.app.focused is person.app.screen.query_one("FactsPane Input"))
    await person.pilot.pause()
    await person.pilot.press("tab")


async def test_a_fact_tells_whose_words_it_rests_on_and_what_it_took_the_place_of(
    open_interface: Opener, remembered: ChatMessage
) -> None:
    async with open_interface() as person:
        await opened(person)
        await person.until(lambda: "«Ahora trabajo en la Gestoría Lacruz" in detail(person).plain)
        assert "Ana · " in detail(person).plain
        assert "Talleres Núñez" in detail(person).plain.split("Antes y después")[1]
        await person.pilot.press("enter")
        await person.until(lambda: person.app.screen is person.chat and person.chat.talk and person.chat.talk.path)
        assert person.chat.talk is not None
        assert person.chat.talk.path[-1].id == remembered.id


@pytest.mark.usefixtures("remembered")
async def test_what_is_typed_is_found_accents_aside(open_interface: Opener) -> None:
    async with open_interface(size=(80, 24)) as person:
        await opened(person)
        await person.pilot.press("shift+tab", *"contrasena")
        await person.until(lambda: len(pane(person).listing) == 1)
        await person.until(lambda: "2580" in detail(person).plain)
        await person.pilot.press("tab", "enter")
        await person.until(lambda: "no hay conversación" in person.screen_text())


@pytest.mark.usefixtures("remembered")
async def test_a_fact_is_changed_shared_and_forgotten_and_each_is_undone(open_interface: Opener) -> None:
    async with open_interface() as person:
        facts = person.app.session.memory.facts

        def said() -> list[tuple[str, str]]:
            return [(fact.text, fact.visibility) for fact in facts.list()]

        await opened(person)
        before = said()
        await person.pilot.press("end", "e")
        await person.until(lambda: "¿Cómo es en realidad?" in person.screen_text())
        await person.pilot.press("end", "backspace", "1", "enter")
        await person.until(lambda: ("La contraseña del portal es 2581", "private") in said())
        await person.pilot.press("ctrl+z")
        await person.until(lambda: said()[0] == before[1])
        await person.until(lambda: "2580" in detail(person).plain or pane(person).listing.highlighted != 0)
        await person.pilot.press("home", "s")
        await person.until(lambda: ("La contraseña del portal es 2580", "shared") in said())
        await person.pilot.press("ctrl+z")
        await person.until(lambda: ("La contraseña del portal es 2580", "private") in said())
        await person.until(lambda: len(pane(person).listing) == 2)
        await person.pilot.press("delete")
        await person.until(lambda: len(said()) == 1)
        await person.pilot.press("o")
        await person.until(lambda: "R recuerda otra vez" in person.screen_text() and len(pane(person).listing) == 1)
        await person.pilot.press("r")
        await person.until(lambda: len(said()) == 2)
