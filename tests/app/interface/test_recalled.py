"""What an answer was reminded of: shown with who said it and when, and put right or forgotten where it is shown."""

from __future__ import annotations

from app.interface.chat.sources_dialog import SourcesDialog
from configs.home import Home
from tests.app.interface.conftest import Person, interface

QUESTION = "What is the name of our dog?"


async def open_sources(person: Person) -> None:
    await person.pilot.press("ctrl+n")
    await person.until(lambda: isinstance(person.app.screen, SourcesDialog))


async def test_a_recalled_lesson_is_shown_with_its_source_and_corrected_on_the_spot(talking_home: Home) -> None:
    async with interface(talking_home) as person:
        await person.ask(QUESTION)
        await person.pilot.press("f4")
        await person.pilot.pause()
        person.find("CorrectionText").load_text("Our dog is called Toby.")  # type: ignore[attr-defined]
        await person.pilot.press("ctrl+s")
        await person.pilot.pause()
        taught_in = person.chat.talk.conversation_id if person.chat.talk else None
        await person.pilot.press("f2")
        await person.ask("What's our dog called?")
        name = person.app.session.member.name
        assert f"↺ {name}, " in person.transcript_text()
        await open_sources(person)
        shown = person.screen_text()
        assert f"a «{QUESTION}»" in shown
        assert f"en «{QUESTION}»" in shown
        await person.pilot.press("e")
        person.find("#other_words").value = "Our dog is called Rex."  # type: ignore[attr-defined]
        await person.pilot.press("enter")
        await person.pilot.pause()
        (lesson,) = person.app.session.memory.lessons.list(status="active")
        assert lesson.chosen == "Our dog is called Rex."
        assert "Corregido" in person.screen_text()
        await person.pilot.press("enter")
        await person.until(lambda: person.chat.talk and person.chat.talk.conversation_id == taught_in)


async def test_a_recalled_fact_is_forgotten_on_the_spot(talking_home: Home) -> None:
    async with interface(talking_home) as person:
        facts = person.app.session.memory.facts
        fact = facts.add("The spare key is under the blue flowerpot")
        await person.ask("Where is the spare key?")
        await open_sources(person)
        assert "blue flowerpot" in person.screen_text()
        await person.pilot.press("delete")
        await person.pilot.pause()
        assert not facts.get(fact.id).stands
        assert "Olvidado" in person.screen_text()


async def test_an_answer_that_was_reminded_of_nothing_says_so(talking_home: Home) -> None:
    async with interface(talking_home) as person:
        await person.ask("What is two plus two?")
        await person.pilot.press("ctrl+n")
        await person.pilot.pause()
        assert not isinstance(person.app.screen, SourcesDialog)
        assert "no se apoya en nada recordado" in person.screen_text()
