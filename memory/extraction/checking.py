"""What a model says that it has read, checked by code before anything of it is believed.

A model may choose what it quotes, and nothing else: the words have to stand in the message, in a stretch that states
something, have to say by their own wording what they are said to mean, and of whom.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from memory.extraction.objects import objects
from memory.extraction.patterns import LANGUAGES, Language, Patterns
from memory.extraction.reader import Found, Whom
from memory.extraction.statements import Said, masked, plain, statements

_WORD: Final = re.compile(r"[\w']+")
_RELATIVES: Final = ("relative", "pet")


@dataclass(frozen=True)
class Claim:
    """What a model read: the exact words, what they say, of whom (``name`` where it is another), and the object."""

    quote: str
    predicate: str
    about: Literal["me", "other"]
    name: str
    object: str


def checked(claim: Claim, message: str, patterns: Patterns) -> Found | None:
    """The claim as something found in the message; None where anything of it does not hold."""
    said = Said.of(message)
    readable = masked(said.text)
    place = _place(claim.quote, said, readable, patterns)
    language = _language(claim, patterns)
    if place is None or language is None or patterns.works.search(readable):
        return None
    start, end = place
    words = set(_WORD.findall(plain(claim.quote).lower()))
    whom = _whom(claim, words, language, patterns)
    at = said.text.find(claim.object, start, end)
    if whom is None or words & patterns.denials or at < 0 or not claim.object.strip():
        return None
    found = next(
        objects(said.text, at, at + len(claim.object), language, patterns.limits(claim.predicate, language)), None
    )
    if found is None or _cut(said.text, found.end) or _cut(said.text, found.start):
        return None
    detail, word = _relation(claim, language, patterns)
    if claim.predicate in _RELATIVES and not detail:
        return None
    first, last = said.places[start], said.places[end]
    return Found(
        claim.predicate,
        detail,
        said.text[found.start : found.end],
        found.the,
        Whom("self") if claim.predicate in _RELATIVES else whom,
        language,
        message[first:last],
        first,
        last,
        word=word,
    )


def may_hold_a_claim(message: str, patterns: Patterns) -> bool:
    """Whether a model is worth asking: something is stated in a word that one of its predicates needs."""
    readable = masked(Said.of(message).text)
    cues = [cue for each in patterns.cues.values() for cue in each.values()]
    return any(cue.search(readable, each.start, each.end) for each in statements(readable) for cue in cues)


def _place(quote: str, said: Said, readable: str, patterns: Patterns) -> tuple[int, int] | None:
    """Where the quote stands in a stretch that states something."""
    start = said.text.find(quote) if quote.strip() else -1
    end = start + len(quote)
    for stated in statements(readable):
        inside = stated.start <= start and end <= stated.end and "\ufffc" not in readable[start:end]
        if not inside or _cut(readable, end) or _cut(readable, start):
            continue
        doubt = patterns.before.search(readable, stated.start, end) or patterns.passing.search(
            readable, stated.start, end
        )
        sentence_end = next((at for at in range(end, len(readable)) if readable[at] in "\n!?"), len(readable))
        return None if doubt or patterns.anywhere.search(readable, stated.start, sentence_end) else (start, end)
    return None


def _language(claim: Claim, patterns: Patterns) -> Language | None:
    """In which language the words say what they are said to mean; None where they do not."""
    cues = patterns.cues.get(claim.predicate)
    if cues is None:
        return None
    return next((language for language in LANGUAGES if cues[language].search(plain(claim.quote))), None)


def _whom(claim: Claim, words: set[str], language: Language, patterns: Patterns) -> Whom | None:
    related = [word for word in words if patterns.related(language, word)]
    if claim.about == "me":
        # "My sister lives in …" says "my", and is not of whoever says it.
        return (
            Whom("self") if words & patterns.own[language] and (not related or claim.predicate in _RELATIVES) else None
        )
    relation = patterns.related(language, related[0]) if len(related) == 1 else None
    if claim.name and claim.name not in claim.quote:
        return None
    if relation is None and not claim.name[:1].isupper():
        return None
    return Whom("other", relation.key if relation else "", claim.name if claim.name[:1].isupper() else "")


def _relation(claim: Claim, language: Language, patterns: Patterns) -> tuple[str, str]:
    if claim.predicate not in _RELATIVES:
        return "", ""
    words = _WORD.findall(plain(claim.quote).lower())
    found = [(patterns.related(language, word), word) for word in words]
    keys = [(each.key, word) for each, word in found if each is not None and each.pet == (claim.predicate == "pet")]
    return keys[0] if len(keys) == 1 else ("", "")


def _cut(text: str, end: int) -> bool:
    """Whether a place is in the middle of a word."""
    return 0 < end < len(text) and text[end - 1].isalnum() and text[end].isalnum()
