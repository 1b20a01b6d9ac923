"""Every screen in both languages, both sets of colours and two widths: whole, and in one language."""

from __future__ import annotations

import json

import pytest
from rich.cells import cell_len

from app.catalogue import Catalogue
from app.interface.actions import ACTIONS
from app.interface.chat.bar import fitting
from app.interface.chat.screen import ChatScreen
from configs.home import Home
from tests.app.interface.conftest import Opener

VARIANTS = [
    ("es", (80, 24), "dark"),
    ("es", (120, 36), "light"),
    ("en", (80, 24), "light"),
    ("en", (120, 36), "dark"),
]


@pytest.mark.parametrize(("language", "size", "theme"), VARIANTS)
async def test_every_screen_opens_and_fits(
    open_interface: Opener, home: Home, language: str, size: tuple[int, int], theme: str
) -> None:
    home.interface_file.write_text(json.dumps({"theme": theme}))
    text = Catalogue(language).text
    async with open_interface(language=language, size=size) as person:
        assert person.app.theme == f"enlace-{theme}"
        assert text("screen.status.help") in person.screen_text()
        for keys, expected in (
            (("f1",), text("screen.help.title")),
            (("escape", "f10"), text("screen.palette.placeholder")),
            (("escape", "f9"), text("screen.learning.title")),
            (("f3",), text("screen.learning.training.history")),
            (("f4",), text("screen.learning.snapshots.gate")),
            (("f5",), text("screen.learning.decide.nothing")),
            (("escape", "f12"), text("screen.memory.facts.search")),
            (("f3",), text("screen.memory.history.search")),
            (("f4",), text("screen.memory.people.search")),
            (("f5",), text("screen.memory.documents.search")),
            (("f6",), text("screen.memory.graph.search")),
            (("escape", "ctrl+o"), text("screen.members.title")),
        ):
            await person.pilot.press(*keys)
            await person.until(lambda expected=expected: expected in person.screen_text())  # type: ignore[misc]
            assert all(cell_len(row) <= size[0] for row in person.screen_text().splitlines())


async def test_the_colours_change_and_are_remembered(open_interface: Opener, home: Home) -> None:
    async with open_interface() as person:
        await person.chat.run_action("theme")
        assert person.app.theme == "enlace-light"
    async with open_interface() as person:
        assert person.app.theme == "enlace-light"


async def test_the_palette_finds_an_action_by_its_words_and_does_it(open_interface: Opener) -> None:
    async with open_interface() as person:
        await person.pilot.press("ctrl+p", *"colores")
        await person.until(lambda: "Cambiar los colores" in person.screen_text())
        await person.pilot.press("enter")
        await person.until(lambda: person.app.theme == "enlace-light")


def test_every_action_has_a_method_a_text_and_a_key_of_its_own() -> None:
    for action in ACTIONS:
        assert hasattr(ChatScreen, f"action_{action.name}")
        assert all(Catalogue(language).has(f"screen.action.{action.name}") for language in ("es", "en"))
    keys = [action.key for action in ACTIONS if action.key]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("width", "expected"),
    [(40, "uno · dos · tres"), (12, "uno · dos"), (8, "uno"), (2, "un"), (0, "")],
)
def test_a_status_too_long_loses_its_last_parts_whole(width: int, expected: str) -> None:
    assert fitting("uno · dos · tres", width) == expected


async def test_an_unexpected_error_becomes_a_dialog_and_the_screen_lives_on(
    open_interface: Opener, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_interface() as person:

        def broken() -> None:
            raise ZeroDivisionError("secret detail")

        monkeypatch.setattr(person.chat, "action_copy", broken)
        await person.pilot.press("f8")
        await person.until(lambda: "⚠" in person.screen_text())
        assert "secret detail" not in person.screen_text()
        assert "Traceback" not in person.screen_text()
        assert "secret detail" in next(home.logs.glob("*.log")).read_text()
        await person.pilot.press("enter")
        await person.until(lambda: person.chat.talk)
        await person.pilot.press("a")
        assert person.chat.composer.text == "a"


async def test_what_keeps_the_house_from_opening_is_said_in_words(home: Home) -> None:
    from app.interface.app import EnlaceApp
    from app.session import Session

    home.family_db.write_bytes(b"this is no database, only 40 bytes of it")
    with Session({"ENLACE_HOME": str(home.root), "LANG": "es"}) as session:
        app = EnlaceApp(session)
        async with app.run_test(size=(100, 30)) as pilot:
            for _ in range(200):
                await pilot.pause(0.02)
                if len(app.screen_stack) > 2:
                    break
            dialog = app.screen
            assert "family.db" in dialog.what  # type: ignore[attr-defined]
            await pilot.press("enter")
        assert app.return_value == 1
