"""Asking, stopping, correcting, rating and asking again, with the real model."""

from __future__ import annotations

from configs.home import Home
from tests.app.interface.conftest import LONG, interface


async def test_an_answer_is_shown_stored_and_told_of_in_the_status_line(talking_home: Home) -> None:
    async with interface(talking_home) as person:
        await person.ask("What is the capital of France?")
        answer = person.chat.talk.last("assistant") if person.chat.talk else None
        assert answer is not None
        assert answer.content.split()
        assert " ".join(answer.content.split()) in " ".join(person.transcript_text().split())
        status = person.chat.query_one("#status").text  # type: ignore[attr-defined]
        assert "smollm2-135m · v0" in status
        assert "tok/s" in status
        assert "contexto" in status
        assert "▸ What is the capital" in person.screen_text()


async def test_esc_stops_an_answer_which_is_kept_and_marked(talking_home: Home) -> None:
    async with interface(talking_home, answer_tokens=LONG) as person:
        person.chat.composer.load_text("Tell me a very long story about the sea.")
        await person.pilot.press("enter")
        await person.until(lambda: person.chat.talk and person.chat.talk.progress.tokens > 2)
        await person.pilot.press("escape")
        await person.until(lambda: not person.writing())
        await person.pilot.pause()
        answer = person.chat.talk.last("assistant") if person.chat.talk else None
        assert answer is not None
        assert answer.state == "stopped", (answer.content, answer.meta)
        assert answer.content
        assert "⚠ detenida" in person.transcript_text()
        await person.ask("What is two plus two?")
        assert person.talk_path() == ["user", "assistant"] * 2


async def test_a_new_conversation_in_mid_answer_stops_and_keeps_it(talking_home: Home) -> None:
    async with interface(talking_home, answer_tokens=LONG) as person:
        person.chat.composer.load_text("Tell me a very long story about the sea.")
        await person.pilot.press("enter")
        await person.until(lambda: person.chat.talk and person.chat.talk.progress.tokens > 2)
        await person.pilot.press("f2")
        await person.until(lambda: person.chat.talk is not None and person.chat.talk.conversation_id is None)
        assert not person.writing()
        await person.ask("What is two plus two?")
        assert person.talk_path() == ["user", "assistant"]
        chats = person.app.session.memory.chats
        left = next(each for each in chats.list() if "the sea" in each.title)
        assert chats.path(left.id)[-1].state == "stopped"
        assert chats.path(left.id)[-1].content


async def test_a_correction_is_made_in_place_shared_and_used_in_the_next_similar_question(talking_home: Home) -> None:
    async with interface(talking_home) as person:
        await person.ask("What is the name of our dog?")
        await person.pilot.press("f4")
        await person.pilot.pause()
        assert "Lo aprenderá toda la casa" in person.screen_text()
        person.find("CorrectionText").load_text("Our dog is called **Toby**.")  # type: ignore[attr-defined]
        await person.pilot.press("ctrl+s")
        await person.pilot.pause()
        shown = person.transcript_text()
        assert "Our dog is called Toby." in shown
        assert "✎ Corregida por ti · la aprende toda la casa" in shown
        (lesson,) = person.app.session.memory.lessons.list()
        assert (lesson.visibility, lesson.chosen) == ("shared", "Our dog is called **Toby**.")
        assert " 1 / 50" in person.screen_text()
        await person.pilot.press("f2")
        await person.ask("What's our dog called?")
        assert "1 lección" in person.transcript_text()
        assert "Toby" in person.transcript_text()


async def test_a_correction_can_be_kept_private_and_an_unchanged_one_is_refused_in_words(talking_home: Home) -> None:
    async with interface(talking_home) as person:
        await person.ask("Which day do we water the plants?")
        await person.pilot.press("f4", "ctrl+s")
        await person.pilot.pause()
        assert person.chat.notice.sentence
        assert person.find("#correction").display
        await person.pilot.press("ctrl+t")
        await person.pilot.pause()
        assert "Solo será para ti" in person.screen_text()
        person.find("CorrectionText").load_text("On Sundays.")  # type: ignore[attr-defined]
        await person.pilot.press("ctrl+s")
        await person.pilot.pause()
        lesson = person.app.session.memory.lessons.list()[0]
        assert (lesson.visibility, lesson.chosen) == ("private", "On Sundays.")
        assert "solo para ti" in person.transcript_text()


async def test_another_answer_and_a_changed_question_are_versions_to_go_between(talking_home: Home) -> None:
    async with interface(talking_home) as person:
        await person.ask("Name a colour.")
        await person.pilot.press("f5")
        await person.until(lambda: not person.writing() and "versión 2 de 2" in person.transcript_text())
        await person.pilot.press("ctrl+g")
        await person.pilot.pause()
        assert "versión 2 de 2" not in person.transcript_text()
        await person.pilot.press("ctrl+r")
        assert person.chat.composer.text == "Name a colour."
        await person.ask("Name a fruit.")
        assert "Name a fruit." in person.transcript_text()
        assert "Name a colour." not in person.transcript_text()
        talk = person.chat.talk
        assert talk is not None
        assert talk.conversation_id is not None
        assert len(person.app.session.memory.chats.messages(talk.conversation_id)) == 5


async def test_a_thumb_is_set_changed_and_taken_back(talking_home: Home) -> None:
    async with interface(talking_home) as person:
        await person.ask("Say hello.")
        for key, mark, rating in (("f6", "▲ bien", 1), ("f7", "▼ mal", -1), ("f7", "", 0)):
            await person.pilot.press(key)
            await person.pilot.pause()
            talk = person.chat.talk
            answer = talk.last("assistant") if talk else None
            assert answer is not None
            assert answer.rating == rating
            assert mark in person.transcript_text()
        assert "▼" not in person.transcript_text()
