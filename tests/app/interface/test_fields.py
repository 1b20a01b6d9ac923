"""What people write over: whatever stood there before, nothing of it is obeyed by the terminal."""

from __future__ import annotations

import re

import pytest
from textual.app import App, ComposeResult
from textual.events import Paste

from app.interface.fields import LineField, TextField
from tests.project import ROOT

NASTY = "uno\x1b]52;c;AAAA\x07 \x9b31mdos\u202e tres"
HARMLESS = "uno dos tres"


class Fields(App[None]):
    def compose(self) -> ComposeResult:
        yield LineField(NASTY, id="given")
        yield LineField(id="set")
        yield LineField(NASTY, password=True, id="hidden")
        yield TextField(id="text")


async def test_nothing_that_is_put_into_a_field_reaches_the_terminal_as_an_order() -> None:
    async with Fields().run_test() as pilot:
        given, late, hidden = (pilot.app.query_one(f"#{each}", LineField) for each in ("given", "set", "hidden"))
        text = pilot.app.query_one(TextField)
        late.value = NASTY
        text.load_text(f"{NASTY}\n{NASTY}")
        assert (given.value, late.value, text.text) == (HARMLESS, HARMLESS, f"{HARMLESS}\n{HARMLESS}")
        # A passphrase is what was typed, whatever it is.
        hidden.value = NASTY
        assert hidden.value == NASTY
        for field in (late, text):
            field.focus()
            await pilot.pause()
            pilot.app.post_message(Paste(NASTY))
            await pilot.pause()
        assert (late.value, text.text[: len(HARMLESS)]) == (HARMLESS, HARMLESS)
        assert not set(text.text) & set("\x1b\x07\x9b\u202e")


@pytest.mark.parametrize("kind", ["Input", "TextArea"])
def test_every_field_of_the_interface_is_one_of_these(kind: str) -> None:
    others = [path for path in (ROOT / "app").rglob("*.py") if path.name != "fields.py"]
    made = re.compile(rf"\b{kind}\(|\({kind}[,)]:?")
    allowed = re.compile(rf"query_one\([^)]*\b{kind}\)")
    found = {
        str(path.relative_to(ROOT)): line.strip()
        for path in others
        for line in path.read_text(encoding="utf-8").splitlines()
        if made.search(allowed.sub("", line))
    }
    assert found == {}
