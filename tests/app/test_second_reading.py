"""The starter model reads what patterns have missed: whatever it says, only the member's own words count."""

from __future__ import annotations

import pytest

from app.assistant.second_reading import read_on
from app.session import Session
from tests.memory.said import say

pytestmark = pytest.mark.timeout(180)
SAID = "Honestly, olives are what I hate most."


async def test_a_message_is_read_once_and_what_comes_of_it_stands_in_it(talking: Session) -> None:
    memory = talking.memory
    assert say(memory, SAID) == []
    await talking.engine.start()
    found = await read_on(talking.engine, memory, talking.settings)
    assert all(fact.quote in SAID and fact.made_by == "model" for fact in found)
    assert memory.hearing.unread(3) == []
    before = memory.facts.list()
    assert memory.hearing.rebuild().new == ()
    assert memory.facts.list() == before


async def test_a_question_is_not_given_to_the_model_to_read(talking: Session) -> None:
    say(talking.memory, "What is the capital of France?")
    assert talking.memory.hearing.unread(3) == []


async def test_nothing_is_read_where_the_settings_do_not_want_it(talking: Session) -> None:
    say(talking.memory, SAID)
    facts = talking.settings.memory.facts.model_copy(update={"model_reads": False})
    memory = talking.settings.memory.model_copy(update={"facts": facts})
    settings = talking.settings.model_copy(update={"memory": memory})
    assert await read_on(talking.engine, talking.memory, settings) == []
    assert len(talking.memory.hearing.unread(3)) == 1
