"""Who sits at the screen: chosen from a list, asked for a PIN, and shown in their colour."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from app.interface import themes
from app.interface.app import EnlaceApp
from app.interface.entry_dialog import EntryDialog
from app.interface.members_screen import MembersScreen
from app.session import Session
from configs.home import Home
from memory.doors import Doors
from memory.entrance_errors import SecretNeeded
from memory.members import Member
from tests.app.interface.conftest import Opener, Person

PIN = "4821"
OPTIONS = {"memory": {"entrance": {"memory_mib": 8, "passes": 1, "lanes": 1}}}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in OPTIONS["memory"]["entrance"].items():
        monkeypatch.setenv(f"ENLACE_MEMORY__ENTRANCE__{name.upper()}", str(value))


def household(home: Home, *, pins: tuple[str, ...] = (), standing: str = "trusted") -> None:
    """Ana administers; Leo is there too."""
    with Session({"ENLACE_HOME": str(home.root), "LANG": "es.UTF-8"}, options=OPTIONS) as session:
        members = session.household.members
        members.default(name="Ana")
        members.add("Leo", "es", standing=standing)  # type: ignore[arg-type]
        for name in pins:
            session.household.doors.set_pin(members.get(name), PIN)


@asynccontextmanager
async def started(home: Home, member: str | None = None) -> AsyncIterator[Person]:
    """The interface as it is at the start, whoever has to prove who they are."""
    with Session({"ENLACE_HOME": str(home.root), "LANG": "es.UTF-8"}, member=member, options=OPTIONS) as session:
        app = EnlaceApp(session)
        async with app.run_test(size=(100, 30)) as pilot:
            yield Person(app, pilot)


async def typed(person: Person, text: str) -> None:
    await person.until(lambda: isinstance(person.app.screen, EntryDialog))
    person.app.screen.query_one(Input).value = text
    await person.pilot.press("enter")


def seen(person: Person, text: str) -> Callable[[], bool]:
    return lambda: text in person.screen_text()


async def test_whoever_has_a_pin_gives_it_before_anything_of_theirs_is_shown(home: Home) -> None:
    household(home, pins=("Ana",))
    async with started(home) as person:
        await person.until(seen(person, "PIN de Ana:"))
        assert not person.app.is_open
        with pytest.raises(SecretNeeded):
            _ = person.app.session.memory
        await typed(person, "1111")
        await person.until(seen(person, "Ese no es el PIN de Ana."))
        assert "1111" not in person.screen_text()
        await typed(person, PIN)
        await person.until(lambda: person.app.is_open and person.chat.talk is not None)
        assert "● Ana ▾" in person.screen_text()


async def test_somebody_else_sits_down_at_the_start_and_with_nobody_it_ends(home: Home) -> None:
    household(home, pins=("Ana",))
    async with started(home) as person:
        await person.until(seen(person, "PIN de Ana:"))
        await person.pilot.press("escape")
        await person.until(lambda: isinstance(person.app.screen, MembersScreen))
        await person.pilot.press("n", "c", "m", "p")  # of whoever is in, and nobody is
        assert isinstance(person.app.screen, MembersScreen)
        await person.pilot.press("down", "enter")
        await person.until(lambda: person.app.is_open and person.chat.talk is not None)
        assert person.app.session.member.name == "Leo"
    async with started(home) as person:
        await person.until(seen(person, "PIN de Ana:"))
        await person.pilot.press("escape")
        await person.until(lambda: isinstance(person.app.screen, MembersScreen))
        await person.pilot.press("escape")
        await person.until(lambda: person.app.return_value == 0)


async def test_whoever_sits_down_later_is_asked_and_whoever_left_is_asked_again(home: Home) -> None:
    household(home, pins=("Ana", "Leo"))
    async with started(home, "Leo") as person:
        await typed(person, PIN)
        await person.until(lambda: person.app.is_open and person.chat.talk is not None)
        await choose(person, 0)
        await typed(person, "0000")
        await person.until(seen(person, "Ese no es el PIN de Ana."))
        await person.pilot.press("escape")
        assert person.app.session.member.name == "Leo"
        await choose(person, 0)
        await typed(person, PIN)
        await person.until(lambda: person.app.session.whoever.name == "Ana")
        await person.until(lambda: person.app.chat() is not None and person.chat.talk is not None)
        await choose(person, 1)
        await person.until(seen(person, "PIN de Leo:"))


async def choose(person: Person, number: int) -> None:
    await person.pilot.press("ctrl+o")
    await person.until(lambda: isinstance(person.app.screen, MembersScreen))
    person.app.screen.query_one(OptionList).highlighted = number
    await person.pilot.press("enter")


async def on_the_list(pilot: Pilot[int], *keys: str) -> None:
    await pilot.press(*keys)
    await pilot.pause()


async def test_a_member_sets_a_pin_a_colour_and_a_voice_and_nobody_elses(open_interface: Opener, home: Home) -> None:
    household(home)
    async with open_interface(member="Ana") as person:
        members, doors = person.app.session.household.members, person.app.session.household.doors
        await person.pilot.press("ctrl+o")
        await person.until(lambda: isinstance(person.app.screen, MembersScreen))
        before = members.get("Ana").colour
        await on_the_list(person.pilot, "c")
        assert members.get("Ana").colour != before
        await on_the_list(person.pilot, "h")
        await typed(person, "con frases cortas")
        await person.until(seen(person, "con frases cortas"))
        assert person.app.session.memory.voice.get() == "con frases cortas"
        await on_the_list(person.pilot, "p")
        await typed(person, PIN)
        await typed(person, "4822")
        await person.until(seen(person, "No has escrito lo mismo"))
        await on_the_list(person.pilot, "p")
        await typed(person, "12")
        await person.until(seen(person, "Un PIN son solo cifras"))
        await on_the_list(person.pilot, "p")
        await typed(person, PIN)
        # As the first time, a space around it is none of it.
        await typed(person, f"{PIN} ")
        await person.until(seen(person, "este código pone otro"))
        assert doors.secret_of(members.get("Ana").id) == "pin"
        # On Leo's row the same keys do nothing.
        leo = members.get("Leo")
        await on_the_list(person.pilot, "down", "c", "h", "p")
        assert isinstance(person.app.screen, MembersScreen)
        assert members.get("Leo") == leo
        assert doors.secret_of(leo.id) is None


async def test_while_a_pin_is_hashed_the_screen_is_alive_and_waits_for_its_code(
    open_interface: Opener, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    household(home)
    asked, go_on, set_pin = threading.Event(), threading.Event(), Doors.set_pin

    def slow(doors: Doors, member: Member, pin: str) -> str:
        asked.set()
        assert go_on.wait(20)
        return set_pin(doors, member, pin)

    monkeypatch.setattr(Doors, "set_pin", slow)
    async with open_interface(member="Ana") as person:
        await person.pilot.press("ctrl+o")
        await person.until(lambda: isinstance(person.app.screen, MembersScreen))
        await on_the_list(person.pilot, "p")
        await typed(person, PIN)
        await typed(person, PIN)
        await person.until(asked.is_set)
        await on_the_list(person.pilot, "escape")
        assert isinstance(person.app.screen, MembersScreen)
        go_on.set()
        await person.until(seen(person, "este código pone otro"))


async def test_a_guest_for_the_evening_has_a_profile_of_their_own(open_interface: Opener, home: Home) -> None:
    household(home)
    async with open_interface(member="Ana") as person:
        await person.pilot.press("ctrl+o")
        await person.until(lambda: isinstance(person.app.screen, MembersScreen))
        await person.pilot.press("n")
        await typed(person, "Yaya")
        await person.until(lambda: person.app.session.whoever.name == "Yaya")
        await person.until(lambda: person.app.chat() is not None and person.chat.talk is not None)
        session = person.app.session
        assert session.member.standing == "guest"
        session.memory.facts.add("Yaya is allergic to nuts")
        ana = session.as_member("Ana")
        assert ana.memory.facts.list() == []
        assert ana.memory.recall.find("Who is allergic to nuts?", ana.member).facts == ()


async def test_a_child_brings_in_no_guest(open_interface: Opener, home: Home) -> None:
    household(home, standing="child")
    async with open_interface(member="Leo") as person:
        await person.pilot.press("ctrl+o")
        await person.until(lambda: isinstance(person.app.screen, MembersScreen))
        assert "visita" not in person.screen_text().splitlines()[-8]
        await on_the_list(person.pilot, "n", "m", "v")
        assert isinstance(person.app.screen, MembersScreen)
        assert len(person.app.session.household.members.list()) == 2


@pytest.mark.parametrize(
    ("standing", "said"), [("child", "cuando se apruebe"), ("trusted", "Lo aprenderá toda la casa ·")]
)
async def test_a_child_is_told_that_a_shared_correction_waits(
    open_interface: Opener, home: Home, standing: str, said: str
) -> None:
    household(home, standing=standing)
    async with open_interface(member="Leo") as person:
        session, talk = person.app.session, person.chat.talk
        assert talk is not None
        chats = session.memory.chats
        question = chats.question(chats.start().id, "¿Quién es?")
        chats.finish_answer(chats.begin_answer(question.id, "v0").id, "No lo sé.")
        talk.open(question.conversation_id)
        await person.pilot.press("f4")
        await person.until(seen(person, said))
        await person.pilot.press(*"Ana", "ctrl+s")
        mark = "espera a que se apruebe" if standing == "child" else "la aprende toda la casa"
        await person.until(lambda: mark in person.transcript_text())


@pytest.mark.parametrize("choice", themes.COLOURS)
def test_every_members_colour_is_one_of_the_screens(choice: str) -> None:
    from memory.members import COLOURS

    shown = {themes.of_member(colour, choice) for colour in COLOURS}
    assert len(shown) == len(COLOURS)
