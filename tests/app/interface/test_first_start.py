"""The first time that somebody opens Enlace: four steps, each of which may be passed over."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import pytest
from textual.widgets import Static

from app.interface.app import EnlaceApp
from app.interface.first_start import FirstStart
from app.session import Session
from configs.home import Home
from engine import offers
from engine.catalogue import starter_path
from memory.entrance_errors import SecretNeeded
from tests.app.interface.conftest import Person, interface
from tests.engine.pulling.hub import Hub, running

QUICK = {"entrance": {"memory_mib": 8, "passes": 1, "lanes": 1}}


@contextlib.asynccontextmanager
async def first_start(home: Home, **engine: object) -> AsyncIterator[Person]:
    """The first step, in a home in which nobody has ever been."""
    environ = {"ENLACE_HOME": str(home.root), "LANG": "es_ES.UTF-8"}
    with Session(environ, options={"engine": engine, "memory": QUICK}) as session:
        app = EnlaceApp(session)
        async with app.run_test(size=(100, 30)) as pilot:
            person = Person(app, pilot)
            await person.until(lambda: isinstance(app.screen, FirstStart))
            await person.until(lambda: [each for each in app.screen.query("#model") if each.option_count])  # type: ignore[attr-defined]
            yield person
            await person.until(lambda: app.is_open)


async def begun(person: Person) -> None:
    await person.until(lambda: person.app.is_open and person.chat.talk is not None)
    await person.pilot.pause()


async def test_four_enters_and_a_name_are_enough(talking_home: Home) -> None:
    async with first_start(talking_home) as person:
        assert "¿En qué idioma" in person.screen_text()
        await person.pilot.press("down")
        await person.until(lambda: "Which language" in person.screen_text())
        await person.pilot.press("enter", *"Emma", "enter", "enter")
        await person.until(lambda: "Which model answers?" in person.screen_text())
        await person.pilot.press("enter")
        await begun(person)
        assert "Hello, Emma" in person.screen_text()
        (member,) = person.app.session.household.members.list()
        assert (member.name, member.language, member.admin) == ("Emma", "en", True)
        assert person.app.session.household.doors.secret_of(member.id) is None
    async with interface(talking_home) as person:
        assert not isinstance(person.app.screen, FirstStart)


async def test_esc_begins_at_once_in_the_language_of_the_system(home: Home) -> None:
    async with first_start(home) as person:
        await person.pilot.press("escape")
        await begun(person)
        (member,) = person.app.session.household.members.list()
        assert member.language == "es"
        assert member.name in person.screen_text()


async def test_a_name_that_cannot_be_one_is_told_of_and_asked_for_again(home: Home) -> None:
    async with first_start(home) as person:
        await person.pilot.press("enter", "backspace", "enter")
        await person.until(lambda: "⚠" in person.screen_text())
        await person.pilot.press("shift+tab", "enter", *"Ana", "enter")
        await person.until(lambda: "¿Quieres un PIN?" in person.screen_text())
        # Who turns back may still be called otherwise.
        await person.pilot.press("shift+tab")
        await person.until(lambda: "¿Cómo te llamas?" in person.screen_text())
        await person.pilot.press(*"María", "enter", "escape")
        await begun(person)
        assert [member.name for member in person.app.session.household.members.list()] == ["María"]


async def test_a_pin_is_typed_twice_and_its_code_shown_before_anything_goes_on(home: Home) -> None:
    async with first_start(home) as person:
        await person.pilot.press("enter", "enter", *"12", "enter")
        await person.until(lambda: "⚠ Un PIN son solo cifras" in person.screen_text())
        await person.pilot.press(*"4821", "enter")
        await person.until(lambda: "Escríbelo otra vez" in person.screen_text())
        await person.pilot.press(*"4822", "enter")
        await person.until(lambda: "⚠ No has escrito lo mismo" in person.screen_text())
        session = person.app.session
        (member,) = session.household.members.list()
        assert session.household.doors.secret_of(member.id) is None
        await person.pilot.press(*"4821", "enter")
        await person.until(lambda: "Escríbelo otra vez" in person.screen_text())
        await person.pilot.press(*"4821", "enter")
        await person.until(lambda: "Apunta este código" in person.screen_text())
        assert "4821" not in person.screen_text()
        code = str(person.app.screen.query_one("#code", Static).content)
        # Whoever turns back sees it once more: nothing has begun yet.
        await person.pilot.press("enter", "shift+tab")
        await person.until(lambda: code in person.screen_text())
        await person.pilot.press("enter", "enter")
        await begun(person)
        session.household.leave(member.id)
        with pytest.raises(SecretNeeded):
            session.household.member(member.id)
        session.household.doors.recover(member, code, "9999")


async def test_whoever_is_named_by_the_environment_is_not_asked(home: Home) -> None:
    with Session({"ENLACE_HOME": str(home.root)}) as session:
        session.household.members.add("Leo", "es")
    async with interface(home, member="Leo") as person:
        assert "Leo" in person.screen_text()


async def test_a_model_that_is_not_here_comes_while_another_answers(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = starter_path().read_bytes()
    starter, *_ = offers.offers()
    larger = starter.model_copy(
        update={"name": "larger", "title": "Larger", "package": None, "repository": "some/one", "revision": "main",
                "file": "larger.gguf", "languages": ("es", "en")},
    )  # fmt: skip
    monkeypatch.setattr(offers, "offers", lambda: (starter, larger))
    with running(Hub(content=content)) as hub:
        async with first_start(home, hub=hub.address) as person:
            await person.pilot.press("enter", "enter", "enter")
            await person.until(lambda: "Larger" in person.screen_text())
            assert "98 MB por descargar · habla español e inglés · ★ para esta máquina" in person.screen_text()
            await person.pilot.press("down", "enter")
            await begun(person)
            await person.until(lambda: "Larger ya está aquí" in person.chat.notice.sentence)
            assert (home.models / "larger.gguf").stat().st_size == len(content)
