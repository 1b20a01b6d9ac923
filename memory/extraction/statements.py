"""A message as statements: what is quoted or asked is taken away before anything is looked for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# One character stands for another of the same length, so that places stay what they are.
_PLAIN: Final = str.maketrans("áéíóúüÁÉÍÓÚÜ’`´", "aeiouuAEIOUU'''")
_CLUSTER: Final = re.compile(r".[\u0300-\u036f]*", re.DOTALL)
# What somebody else said or wrote: quotations, code, quoted lines, addresses of pages.
_QUOTED: Final = re.compile(
    r'"[^"\n]*"|«[^»]*»|“[^”]*”|„[^“”]*[“”]|(?<!\w)[‘\'](?=\w)[^‘’\'\n]*[’\'](?!\w)|```.*?(?:```|\Z)|`[^`\n]*`'
    r"|(?m:^[ \t]*>.*$)|https?://\S+",
    re.DOTALL,
)
_MASK: Final = "\ufffc"
_SENTENCE: Final = re.compile(r"[^\n.!?…;]+(?:[.](?=\w)[^\n.!?…;]*)*[.!?…;]*")
_ASKS: Final = re.compile(
    r"(?:[,;:]\s|\s(?=so |and |but |then |y |pero |entonces |asi que ))"
    r"(?:so |and |but |then |y |pero |entonces |asi que )?"
    r"(?:what|which|who|where|when|why|how|can|could|should|do|does|did|is|are|am|will|would|may|any|"
    r"que|cual|cuales|quien|donde|cuando|como|cuanto|cuanta|puedo|puedes|podrias|me ayudas|sabes|tienes|hay)\b",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """The text without the accents of vowels, as patterns are compared with it; as long as it was."""
    return text.translate(_PLAIN)


@dataclass(frozen=True)
class Said:
    """A message as it is read. ``text`` is composed (NFC); ``places[i]``: where its character i begins there."""

    message: str
    text: str
    places: tuple[int, ...]

    @classmethod
    def of(cls, message: str) -> Said:
        text, places = "", []
        at = 0
        for found in _CLUSTER.finditer(message):
            composed = unicodedata.normalize("NFC", found[0])
            text += composed
            places += [at] * len(composed)
            at = found.end()
        return cls(message, text, (*places, len(message)))

    def quote(self, start: int, end: int) -> str:
        """The exact words of the message between two places in ``text``."""
        return self.message[self.places[start] : self.places[end]]


@dataclass(frozen=True)
class Statement:
    """A stretch of the message that states something: ``plain[start:end]``."""

    start: int
    end: int


def masked(text: str) -> str:
    """``plain(text)`` with everything that is somebody else's words made unreadable; as long as it was."""
    return plain(_QUOTED.sub(lambda found: _MASK * len(found[0]), text))


def statements(readable: str) -> Iterator[Statement]:
    """The stretches of a ``masked`` text that state something, in their order."""
    for found in _SENTENCE.finditer(readable):
        sentence = found[0]
        stated = len(sentence)
        if "?" in sentence or "¿" in sentence:
            opened = sentence.find("¿")
            asked = _ASKS.search(sentence)
            stated = opened if opened >= 0 else asked.start() if asked else 0
        lead = len(sentence) - len(sentence.lstrip(" \t-*•¡"))
        body = sentence[lead:stated].rstrip(" \t,.;:!…¿")
        if body:
            yield Statement(found.start() + lead, found.start() + lead + len(body))
