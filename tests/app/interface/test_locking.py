"""The interface locks by a key and when nobody has been at it: its member comes in again, and nothing is lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.app import App
from textual.events import Event, Key
from textual.widgets import Input, OptionList

from app.interface.app import EnlaceApp
from app.interface.lock_screen import LockScreen
from app.interface.members_screen import MembersScreen
from app.session import Session
from configs.home import Home
from memory.cipher import is_open_here
from memory.entrance_errors import PassphraseNeeded, SecretNeeded
from memory.sealing import encrypt
from tests.app.interface.conftest import Person

PIN = "4821"
PASSPHRASE = "siete gatos en un tejado"  # noqa: S105 - nobody's
QUICK = {"entrance": {"memory_mib": 8, "passes": 1, "lanes": 1}}


class Time:
    """A clock that a test sets forward."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def at_home(
    home: Home, secret: str, *, tokens: int = 12, minutes: float = 0, looks: float = 0.05
) -> AsyncIterator[tuple[Person, Time]]:
    """Ana's screen; she has proven who she is. ``secret``: what she comes in by, if by anything. Leo is there too."""
    options = {
        "memory": QUICK,
        "interface": {"lock_minutes": minutes, "status_seconds": looks},
        "engine": {"sampling": {"max_tokens": tokens, "temperature": 0.0}},
    }
    with Session({"ENLACE_HOME": str(home.root), "LANG": "es.UTF-8"}, options=options) as session:
        members, clock = session.household.members, Time()
        ana = members.default(name="Ana")
        if len(members.list()) == 1:
            members.add("Leo", "es")
        if secret == PASSPHRASE:
            encrypt(session.household, ana.id, PASSPHRASE)
        elif secret:
            session.household.doors.set_pin(ana, PIN)
        app = EnlaceApp(session, clock=clock)
        async with app.run_test(size=(80, 24)) as pilot:
            person = Person(app, pilot)
            await person.until(lambda: app.is_open and person.chat.talk is not None)
            yield person, clock


async def locked(person: Person) -> None:
    await person.until(lambda: isinstance(person.app.screen, LockScreen))
    await person.pilot.pause()


async def come_in(person: Person, secret: str) -> None:
    person.app.screen.query_one(Input).value = secret
    await person.pilot.press("enter")


async def test_a_key_locks_and_everything_is_as_it_was_for_whoever_comes_in(home: Home) -> None:
    async with at_home(home, PIN) as (person, _):
        await person.pilot.press(*"medio", "ctrl+k")
        await locked(person)
        assert "Ana" in person.screen_text()
        assert "medio" not in person.screen_text()
        await person.pilot.press("ctrl+p", "f12", "f9", "ctrl+k")
        assert isinstance(person.app.screen, LockScreen)
        await come_in(person, "1111")
        await person.until(lambda: "⚠ Ese no es el PIN de Ana." in person.screen_text())
        session = person.app.session
        with pytest.raises(SecretNeeded):
            session.household.member(session.whoever.id)
        await come_in(person, PIN)
        await person.until(lambda: person.app.screen is person.chat)
        await person.pilot.press(*" escrito")
        await person.until(lambda: person.chat.composer.text == "medio escrito")


async def test_nobody_at_it_for_long_enough_locks(home: Home) -> None:
    async with at_home(home, PIN, minutes=5) as (person, clock):
        clock.now += 299
        await person.pilot.press("a")
        clock.now += 299
        await person.pilot.pause(0.1)
        assert not person.app.locking.locked
        clock.now += 2
        await locked(person)
        await come_in(person, PIN)
        await person.until(lambda: person.app.screen is person.chat)


async def test_a_key_that_comes_too_late_locks_first_and_is_dropped(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The field of the locked screen is not there yet, which the key could be seen in: so who hands keys on is asked.
    handed_on, on_event = [], App.on_event

    async def heard(app: App[object], event: Event) -> None:
        handed_on.append(event)
        await on_event(app, event)

    monkeypatch.setattr(App, "on_event", heard)
    # As where the machine slept: nothing has looked since.
    async with at_home(home, PIN, minutes=5, looks=1000) as (person, clock):
        await person.pilot.press("a")
        clock.now += 301
        await person.pilot.press("b")
        await locked(person)
        assert {event.key for event in handed_on if isinstance(event, Key)} == {"a"}
        assert person.chat.composer.text == "a"
        assert person.app.screen.query_one(Input).value == ""


async def test_whoever_has_no_pin_is_never_locked_out(home: Home) -> None:
    async with at_home(home, "", minutes=1) as (person, clock):
        clock.now += 3600
        await person.pilot.press("ctrl+k")
        await person.until(lambda: "No tienes PIN" in person.screen_text())
        assert person.app.screen is person.chat


async def test_an_answer_goes_on_behind_the_lock_and_then_an_encrypted_file_is_closed(talking_home: Home) -> None:
    pytest.importorskip("sqlcipher3")
    async with at_home(talking_home, PASSPHRASE, tokens=40) as (person, _):
        session, doors = person.app.session, person.app.session.household.doors
        person.chat.composer.load_text("Tell me about the sea.")
        await person.pilot.press("enter")
        await person.until(lambda: person.writing() and person.chat.talk.progress.tokens)  # type: ignore[union-attr]
        undo = session.memory.facts
        await person.pilot.press("ctrl+k")
        await locked(person)
        path = session.home.member_db(session.whoever.id)
        await person.until(lambda: not is_open_here(path))
        assert doors.waits_for(session.whoever.id) == "passphrase"
        assert not person.writing()
        assert doors._keys == {}
        with pytest.raises(PassphraseNeeded):
            undo.list()
        await come_in(person, PASSPHRASE)
        await person.until(lambda: person.app.screen is person.chat)
        assert person.chat.talk is not None
        assert person.chat.talk.path[-1].state == "complete"
        # What was held on to before is good again.
        assert undo.list() == []
        await person.ask("And the sky?")


async def test_somebody_else_sits_down_before_a_locked_screen_and_changes_nothing_there(home: Home) -> None:
    async with at_home(home, PIN) as (person, _):
        await person.pilot.press(*"secreto", "ctrl+k")
        await locked(person)
        await person.pilot.press("escape")
        await person.until(lambda: isinstance(person.app.screen, MembersScreen))
        # Nobody has proven to be Ana, whose row is the first: her PIN stays.
        await person.pilot.press("p", "c", "enter")
        await locked(person)
        await person.pilot.press("escape")
        await person.until(lambda: isinstance(person.app.screen, MembersScreen))
        await person.pilot.press("down", "enter")
        await person.until(lambda: person.app.session.whoever.name == "Leo" and person.app.screen is person.chat)
        await person.until(lambda: person.chat.talk is not None)
        assert len(person.app.screen_stack) == 2
        assert "secreto" not in person.screen_text()
        await person.pilot.press("ctrl+o")
        await person.until(lambda: isinstance(person.app.screen, MembersScreen))
        person.app.screen.query_one(OptionList).highlighted = 0
        await person.pilot.press("enter")
        await person.until(lambda: "PIN de Ana:" in person.screen_text())
        await come_in(person, PIN)
        await person.until(lambda: person.app.session.whoever.name == "Ana" and person.app.screen is person.chat)
        await person.until(lambda: person.chat.composer.text == "secreto")


async def test_where_nothing_is_asked_for_any_more_the_screen_begins_empty(home: Home) -> None:
    async with at_home(home, PIN) as (person, _):
        await person.pilot.press(*"secreto", "ctrl+k")
        await locked(person)
        household = person.app.session.household
        household.members.empty("Ana")
        await come_in(person, "0000")
        await person.until(lambda: person.app.screen is person.app.chat() and person.chat.talk is not None)
        assert "secreto" not in person.screen_text()


async def test_what_goes_wrong_behind_the_lock_is_told_to_whoever_comes_in(home: Home) -> None:
    async with at_home(home, PIN) as (person, _):
        await person.pilot.press("ctrl+k")
        await locked(person)
        person.app.tell(RuntimeError("an accident"))
        await person.pilot.pause()
        assert isinstance(person.app.screen, LockScreen)
        await come_in(person, PIN)
        await person.until(lambda: "Algo ha fallado" in person.screen_text())
        await person.pilot.press("enter")
        await person.until(lambda: person.app.screen is person.app.chat() and person.chat.talk is not None)
