"""The history: found words are marked, also where it is narrow, and Enter goes to the message."""

from __future__ import annotations

import pytest
from rich.text import Text

from app.history import EveryConversation
from app.interface.excerpt import excerpt, first_marked_row, marked_text
from app.interface.memory.history import HistoryPane
from app.interface.paged_list import PagedList
from app.session import Session
from configs.home import Home
from memory.household import MemberMemory
from tests.app.interface.conftest import Opener, Person


@pytest.fixture
def talked(home: Home) -> None:
    """Three conversations, the first of which names Núñez in the middle of a long answer."""
    with Session({"ENLACE_HOME": str(home.root)}) as session:
        say(session.memory, "¿Dónde trabaja el primo?", "Según dijiste, " + "lejos, " * 40 + "en Talleres Núñez.")
        say(session.memory, "¿Qué hay de cena?", "Tortilla.")
        say(session.memory, "¿Cuándo viene Pilar?", "Los martes.")


def say(memory: MemberMemory, question: str, answer: str) -> None:
    asked = memory.chats.question(memory.chats.start().id, question)
    memory.chats.finish_answer(memory.chats.begin_answer(asked.id, "v0").id, answer)


def detail(person: Person) -> Text:
    shown = person.app.screen.query_one(HistoryPane).query_one(".detail Static").content  # type: ignore[attr-defined]
    assert isinstance(shown, Text)
    return shown


async def opened(person: Person) -> None:
    await person.pilot.press("f12", "f3")
    await person.until(lambda: len(person.app.screen.query_one(HistoryPane).listing) == 3)
    await person.until(lambda: person.app.focused is person.app.screen.query_one("HistoryPane Input"))
    await person.pilot.pause()


@pytest.mark.usefixtures("talked")
@pytest.mark.parametrize("size", [(120, 36), (80, 24)])
async def test_what_is_typed_is_found_at_once_accents_aside_and_enter_goes_there(
    open_interface: Opener, size: tuple[int, int]
) -> None:
    async with open_interface(size=size) as person:
        await opened(person)
        await person.pilot.press(*"nunez")
        await person.until(lambda: len(person.app.screen.query_one(HistoryPane).listing) == 1)
        await person.until(lambda: "Núñez" in marked(detail(person)))
        # The row is cut around the word, and the answer is scrolled to it.
        await person.until(lambda: person.screen_text().count("Núñez") >= 2)
        await person.pilot.press("enter", "enter")
        await person.until(lambda: person.chat.talk and person.chat.talk.path)
        assert person.app.screen is person.chat
        assert [message.role for message in person.chat.talk.path] == ["user", "assistant"]  # type: ignore[union-attr]
        focused = person.chat.transcript.focused_entry
        assert focused is not None
        assert "Núñez" in focused.text


@pytest.mark.usefixtures("talked")
async def test_without_words_every_conversation_is_listed_the_last_used_first(open_interface: Opener) -> None:
    async with open_interface() as person:
        await opened(person)
        await person.until(lambda: "Los martes." in detail(person).plain)
        await person.pilot.press("tab", "end")
        await person.until(lambda: "Talleres Núñez" in detail(person).plain)
        await person.pilot.press("shift+tab", *"zzz")
        await person.until(lambda: "Prueba con menos palabras" in person.screen_text())


@pytest.mark.usefixtures("talked")
async def test_the_side_list_marks_the_found_words_too(open_interface: Opener) -> None:
    async with open_interface() as person:
        await person.pilot.press("f3", *"nunez")
        await person.until(lambda: person.chat.side.query_one("#conversations").option_count == 2)  # type: ignore[attr-defined]
        prompt = person.chat.side.query_one("#conversations").get_option_at_index(1).prompt  # type: ignore[attr-defined]
        assert marked(prompt) == ["Núñez"]


def marked(text: Text) -> list[str]:
    return [text.plain[span.start : span.end] for span in text.spans if "underline" in str(span.style)]


def test_a_marked_excerpt_shows_its_first_mark_whole_within_the_width() -> None:
    text = "uno dos tres cuatro cinco seis siete ocho nueve diez"
    at = text.index("ocho")
    for width in range(6, 40):
        shown = excerpt(text, [(at, at + 4)], width)
        assert "ocho" in shown.plain
        assert shown.cell_len <= width
        assert marked(shown) == ["ocho"]


def test_a_sequence_that_begins_before_a_mark_and_ends_in_it_is_not_drawn() -> None:
    text = "uno \x1b]0;título\x07 dos"
    start = text.index("título")
    assert marked_text(text, [(start, start + len("título"))]).plain == "uno  dos"


def test_the_first_mark_is_found_in_the_row_in_which_it_is_wrapped() -> None:
    text = marked_text("a\nbb bb bb\nccc", [(11, 14)])
    assert first_marked_row(text, 5) == 3


async def test_a_list_of_a_hundred_thousand_reads_the_pages_that_are_looked_at_alone(
    open_interface: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[tuple[int, int]] = []

    def page(self: EveryConversation, start: int, stop: int) -> list[object]:
        read.append((start, stop))
        return []

    async with open_interface() as person:
        monkeypatch.setattr(EveryConversation, "__len__", lambda self: 100_000)
        monkeypatch.setattr(EveryConversation, "passages", page)
        await person.pilot.press("f12", "f3")
        listing = person.app.screen.query_one(HistoryPane).query_one(PagedList)
        await person.until(lambda: len(listing) == 100_000)
        await person.pilot.press("tab", "end", "pageup", "home")
        await person.until(lambda: listing.highlighted == 0)
        await person.until(lambda: (99_900, 100_000) in read)
        assert sum(stop - start for start, stop in set(read)) < 1000
