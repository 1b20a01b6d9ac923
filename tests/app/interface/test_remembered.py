"""What is kept of a question is told under its answer, and one key takes it back."""

from __future__ import annotations

from configs.home import Home
from tests.app.interface.conftest import interface


async def test_what_was_kept_is_told_under_the_answer_and_one_key_takes_it_back(talking_home: Home) -> None:
    async with interface(talking_home) as person:
        await person.ask("I live in Bristol. What is the capital of France?")
        facts = person.app.session.memory.facts
        assert [fact.object for fact in facts.list()] == ["Bristol"]
        assert "Enlace recuerda: " in person.transcript_text()
        assert "Ctrl+Z" in person.screen_text()
        await person.pilot.press("ctrl+z")
        await person.pilot.pause()
        assert facts.list() == []


async def test_what_follows_from_nothing_is_not_spoken_of(talking_home: Home) -> None:
    async with interface(talking_home) as person:
        await person.ask("What is the capital of France?")
        assert "Enlace recuerda" not in person.screen_text()
