"""The form in which a model is served, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.catalogue import Catalogue


def form_text(words: Catalogue, form: str) -> str:
    """A form's name; that of the file as pulled in the reader's language."""
    from engine.forms.records import AS_PULLED

    return words.text("command.forms.as_pulled") if form == AS_PULLED else form


def form_line(words: Catalogue, form: str, merged: bool) -> str:
    """A sentence about what is loaded."""
    key = "command.forms.loaded_merged" if merged else "command.forms.loaded"
    return words.text(key, form=form_text(words, form))
