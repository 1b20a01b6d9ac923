"""Conversations are found, opened, deleted and brought back; nothing that was stored can break the screen."""

from __future__ import annotations

import threading

import pytest
from textual.events import Paste

from app.interface.chat.side import Conversations
from app.session import Session
from configs.home import Home
from memory.chats import Chats, Hit
from tests.app.interface.conftest import Opener

NASTY = "[/b] [link=x]y[/link] \x1b]52;c;AAAA\x07\x1b[31mrojo {'a': [1]} \u202egpj.exe <|im_end|>"


@pytest.fixture
def chats(home: Home) -> Chats:
    """The first member's conversations, before the interface is opened."""
    session = Session({"ENLACE_HOME": str(home.root), "LANG": "es"})
    return session.memory.chats


def talk(chats: Chats, question: str, answer: str, state: str = "complete") -> tuple[str, str]:
    """A conversation of one turn: (its id, its answer's id)."""
    conversation = chats.start()
    asked = chats.question(conversation.id, question)
    begun = chats.begin_answer(asked.id, "v0")
    chats.finish_answer(begun.id, answer, state)  # type: ignore[arg-type]
    return conversation.id, begun.id


async def test_stored_text_is_drawn_as_written_and_never_obeyed(chats: Chats, open_interface: Opener) -> None:
    conversation, _ = talk(chats, NASTY, NASTY)
    async with open_interface() as person:
        assert person.chat.talk
        person.chat.talk.open(conversation)
        await person.pilot.pause()
        shown = person.screen_text()
        assert "[/b] [link=x]y[/link] rojo {'a': [1]} gpj.exe <|im_end|>" in shown
        assert not set(shown) & set("\x1b\x07\x9b\u202e")


async def test_a_search_finds_without_accents_and_opens_at_the_message(chats: Chats, open_interface: Opener) -> None:
    talk(chats, "¿Dónde vive Núñez?", "En Vigo.")
    talk(chats, "Otra cosa", "Nada.")
    async with open_interface() as person:
        await person.pilot.press("f3", *"nunez")
        await person.until(lambda: "Otra cosa" not in person.screen_text())
        await person.pilot.press("enter", "enter")
        await person.until(lambda: "En Vigo." in person.transcript_text())
        focused = person.chat.transcript.focused_entry
        assert focused is not None
        assert focused.text == "¿Dónde vive Núñez?"


@pytest.mark.parametrize("words", ['"', "C++", "NEAR(", "*", "AND", "zzz", "'"])
async def test_any_search_is_safe(chats: Chats, open_interface: Opener, words: str) -> None:
    talk(chats, "Hola", "Buenas.")
    async with open_interface() as person:
        await person.pilot.press("f3")
        person.find("#search").value = words  # type: ignore[attr-defined]
        await person.until(lambda: "Nada encontrado." in person.screen_text())


async def test_enter_opens_what_its_words_are_found_in_although_nobody_waits_for_the_search(
    chats: Chats, open_interface: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(chats, "¿Dónde vive Núñez?", "En Vigo.")
    talk(chats, "Otra cosa", "Nada.")
    looked_for, go_on = threading.Event(), threading.Event()
    search = Chats.search

    def slow(self: Chats, words: str, most: int) -> list[Hit]:
        looked_for.set()
        assert go_on.wait(30)
        return search(self, words, most)

    monkeypatch.setattr(Chats, "search", slow)
    async with open_interface() as person:
        await person.pilot.press("f3", *"nunez", "enter")
        await person.until(looked_for.is_set)
        # The list is as it was, and keys are answered.
        await person.pilot.press("f1")
        await person.until(lambda: person.app.screen is not person.chat)
        await person.pilot.press("escape")
        go_on.set()
        await person.until(lambda: "En Vigo." in person.transcript_text())


async def test_a_deleted_conversation_comes_back_with_one_key(chats: Chats, open_interface: Opener) -> None:
    talk(chats, "Para borrar", "Vale.")
    async with open_interface() as person:
        await person.pilot.press("f3", "enter", "delete")
        await person.pilot.pause()
        assert "Conversación borrada. · Deshacer Ctrl+Z" in person.screen_text()
        assert not chats.list()
        await person.pilot.press("ctrl+z")
        await person.pilot.pause()
        assert "Para borrar" in person.screen_text()
        assert chats.list()


async def test_a_partial_answer_is_there_and_marked(chats: Chats, open_interface: Opener) -> None:
    conversation = chats.start()
    question = chats.question(conversation.id, "¿Qué es un iglú?")
    answer = chats.begin_answer(question.id, "v0")
    chats.extend_answer(answer.id, "Una casa de hie")
    async with open_interface() as person:
        assert person.chat.talk
        person.chat.talk.open(conversation.id)
        await person.pilot.pause()
        assert "Una casa de hie" in person.screen_text()
        assert "⚠ a medias" in person.screen_text()


async def test_a_narrow_terminal_shows_the_list_on_a_key(chats: Chats, open_interface: Opener) -> None:
    talk(chats, "Huevos y tortilla", "Diez minutos.")
    async with open_interface(size=(80, 24)) as person:
        assert "Huevos y tortilla" not in person.screen_text()
        await person.pilot.press("ctrl+l")
        await person.pilot.pause()
        assert "Huevos y tortilla" in person.screen_text()
        await person.pilot.press("escape")
        await person.pilot.pause()
        assert "Huevos y tortilla" not in person.screen_text()
        await person.pilot.resize_terminal(120, 24)
        await person.pilot.pause()
        assert "Huevos y tortilla" in person.screen_text()


async def test_a_paste_of_200_kb_is_taken_whole_and_harmless(open_interface: Opener) -> None:
    async with open_interface() as person:
        person.app.post_message(Paste("línea \x1b[31mroja\n" * 16_000))
        await person.until(lambda: person.chat.composer.text)
        assert person.chat.composer.text == "línea roja\n" * 16_000
        assert person.chat.composer.size.height <= person.app.settings.composer_lines
        assert "F1 ayuda" in person.screen_text()


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
async def test_an_empty_question_is_not_sent(open_interface: Opener, text: str) -> None:
    async with open_interface() as person:
        person.chat.composer.load_text(text)
        await person.pilot.press("enter")
        await person.pilot.pause()
        assert person.talk_path() == []
        assert not person.app.session.memory.chats.list()


async def test_ctrl_j_begins_another_line(open_interface: Opener) -> None:
    async with open_interface() as person:
        await person.pilot.press("a", "ctrl+j", "b")
        assert person.chat.composer.text == "a\nb"
        assert person.chat.composer.size.height == 2


async def test_another_member_sees_their_own_conversations_only(chats: Chats, open_interface: Opener) -> None:
    talk(chats, "Secreto de Ana", "Shh.")
    async with open_interface() as person:
        person.app.session.household.members.add("Berto", "en")
        assert "Secreto de Ana" in person.screen_text()
        await person.pilot.press("ctrl+o", "down", "enter")
        await person.until(lambda: person.app.session.member.name == "Berto" and person.chat.talk)
        await person.until(lambda: "Berto ▾" in person.screen_text())
        assert "Secreto de Ana" not in person.screen_text()
        assert "F1 help" in person.screen_text()


async def test_enter_in_the_search_opens_the_first_found_and_down_goes_to_the_list(
    chats: Chats, open_interface: Opener
) -> None:
    talk(chats, "¿Dónde vive Núñez?", "En Vigo.")
    talk(chats, "¿Y el dragón?", "En una cueva.")
    async with open_interface() as person:
        await person.pilot.press("f3", *"nunez")
        await person.until(lambda: "dragón" not in person.screen_text())
        await person.pilot.press("enter")
        await person.until(lambda: "En Vigo." in person.transcript_text())
        await person.pilot.press("f3", *["backspace"] * 5, *"dragon")
        # The day, and what was found of it.
        await person.until(lambda: [o.disabled for o in person.chat.query_one(Conversations).options] == [True, False])
        await person.pilot.press("down", "enter")
        await person.until(lambda: "En una cueva." in person.transcript_text())
        assert not person.chat.notice.sentence


async def test_who_deletes_a_conversation_is_told_that_what_they_said_in_it_is_still_remembered(
    chats: Chats, open_interface: Opener
) -> None:
    talk(chats, "Soy alérgica a los cacahuetes", "Vale.")
    async with open_interface() as person:
        (question,) = [each for each in chats.messages(chats.list()[0].id) if each.role == "user"]
        person.app.session.memory.hearing.hear(question)
        await person.pilot.press("f3", "enter", "delete")
        await person.until(lambda: "Sigo recordando una cosa que dijiste en ella" in person.screen_text())
