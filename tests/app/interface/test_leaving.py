"""Leaving while an answer is being written, and when the member is no longer of the household."""

from __future__ import annotations

import pytest

from app.interface.dialogs import ErrorDialog
from app.session import Session
from configs.home import Home
from tests.app.interface.conftest import LONG, Opener, interface


async def test_leaving_in_mid_answer_ends_at_once_and_keeps_what_was_written(talking_home: Home) -> None:
    async with interface(talking_home, answer_tokens=LONG) as person:
        person.chat.composer.load_text("Tell me a very long story about the sea.")
        await person.pilot.press("enter")
        await person.until(lambda: person.chat.talk and person.chat.talk.progress.tokens > 2)
        await person.pilot.press("ctrl+q")
        await person.until(lambda: person.app.return_code is not None or not person.app.is_running)
        assert person.app.return_code == 0
        memory = person.app.session.memory
        (conversation,) = memory.chats.list()
        question, answer = memory.chats.path(conversation.id)
        assert question.content == "Tell me a very long story about the sea."
        assert answer.state == "stopped", (answer.content, answer.meta)
        assert answer.content


async def test_news_of_the_engine_that_come_while_the_screen_is_taken_down_break_nothing(
    open_interface: Opener,
) -> None:
    async with open_interface() as person:
        chat = person.chat
        await chat.query("*").remove()
        chat.say_status()
        await chat.look().wait()
    assert person.app.return_code in (None, 0)


async def test_whoever_is_removed_meanwhile_is_told_once_and_nobody_elses_conversations_take_their_place(
    home: Home, open_interface: Opener
) -> None:
    with Session({"ENLACE_HOME": str(home.root)}) as session:
        session.household.members.add("Ana", "es")
        session.household.members.add("Luis", "es")
        async with open_interface(member="Luis") as person:
            session.household.members.remove("Luis")
            await person.until(lambda: "Luis ya no es de la casa" in person.screen_text())
            assert isinstance(person.app.screen, ErrorDialog)
            await person.pilot.press("enter")
            await person.until(lambda: person.app.return_code is not None)
            assert person.app.return_value == 1


async def test_what_a_removed_member_does_before_anybody_looked_says_the_same_and_nothing_begins_anew(
    home: Home, open_interface: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Session({"ENLACE_HOME": str(home.root)}) as session:
        session.household.members.add("Ana", "es")
        session.household.members.add("Luis", "es")
        async with open_interface(member="Luis") as person:
            # Nobody looks: what is done finds it out.
            monkeypatch.setattr(person.chat, "look", lambda: None)
            session.household.members.remove("Luis")
            await person.pilot.press("f2")
            await person.until(lambda: "Luis ya no es de la casa" in person.screen_text())
            assert isinstance(person.app.screen, ErrorDialog)
            await person.pilot.press("enter")
            await person.until(lambda: person.app.return_code is not None)
