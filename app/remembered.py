"""What Enlace tells of what it has kept of somebody's words: a quiet sentence with the answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.terminal_text import clean

if TYPE_CHECKING:
    from app.assistant.events import Remembered
    from app.catalogue import Catalogue


def told(remembered: Remembered, words: Catalogue) -> list[str]:
    """The sentences of one turn: what is remembered now, and what no longer is."""
    sentences = []
    if remembered.facts:
        sentences.append(words.text("memory.remembers", facts=_listed(fact.text for fact in remembered.facts)))
    if remembered.fell:
        sentences.append(words.text("memory.no_longer", facts=_listed(fact.text for fact in remembered.fell)))
    return sentences


def _listed(texts: Iterable[str]) -> str:
    return " · ".join(clean(text).replace("\n", " ").rstrip(".") for text in texts)
