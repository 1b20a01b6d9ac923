"""Keys that arrive together, as from a fast typist, a busy machine or a terminal's own paste."""

from __future__ import annotations

from textual import events
from textual.keys import _character_to_key

from tests.app.interface.conftest import Opener, Person


def type_at_once(person: Person, text: str, key: str, character: str | None = None) -> None:
    """All letters of ``text`` and then ``key``, before the interface can look at the first."""
    for letter in text:
        person.app.post_message(events.Key(_character_to_key(letter), letter))
    person.app.post_message(events.Key(key, character))


async def test_a_question_and_enter_that_arrive_together_are_sent_whole(open_interface: Opener) -> None:
    async with open_interface() as person:
        sent: list[str] = []
        person.chat.composer.submit = lambda: sent.append(person.chat.composer.text)  # type: ignore[method-assign]
        type_at_once(person, "What is the capital of France?", "enter", "\r")
        await person.until(lambda: sent)
        assert sent == ["What is the capital of France?"]


async def test_what_is_sent_leaves_the_composer_empty_and_is_in_the_conversation_whole(open_interface: Opener) -> None:
    async with open_interface() as person:
        type_at_once(person, "And of Spain?", "enter", "\r")
        await person.until(lambda: person.talk_path())
        assert person.chat.talk is not None
        assert person.chat.talk.path[0].content == "And of Spain?"
        await person.until(lambda: not person.chat.composer.text and not person.writing())
