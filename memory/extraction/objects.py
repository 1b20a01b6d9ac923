"""What a statement says of its subject: where its words end, what of them is the object, and what is none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from configs.wordlists import words_of
from memory.extraction.statements import plain
from memory.text import folded_words

_ARTICLES: Final = {
    "es": re.compile(
        r"(?:(?:a|de) )?(?:(?P<the>al|el|la|los|las|un|una|unos|unas|mi|mis|nuestr[oa]s?)\s+)?", re.IGNORECASE
    ),
    "en": re.compile(r"(?:(?P<the>the|a|an|my|our|some)\s+)?", re.IGNORECASE),
}
_BETWEEN: Final = re.compile(r"\s*,\s*(?:(?:and|or|y|e|o)\s+)?|\s+(?:and|or|y|e|o|ni)\s+", re.IGNORECASE)
_SOME: Final = re.compile(r"(?:un poco de|algo de|a bit of|a little|some)\s+", re.IGNORECASE)
_TRAILING: Final = re.compile(r"(?:[\s,.;:!…'\"]|\s(?:and|or|y|e|o|ni))+$", re.IGNORECASE)
_ENDS: Final = re.compile(r"\s*[(:]| [-–—] |\ufffc")
_ADJECTIVES: Final = words_of(
    "good great bad terrible better best big huge former retired real true proper slow fast careful keen amateur lousy"
    " decent excellent fan buen buena mal mala gran"
)
_LONGEST_WITHOUT_ARTICLE: Final = 3


@dataclass(frozen=True)
class Object:
    """``text[start:end]`` is the object, ``the`` the article that stood before it, as it stands alone."""

    start: int
    end: int
    the: str


@dataclass(frozen=True)
class Limits:
    """What an object has to be, from the settings of its predicate and the words of memory/data/facts.yaml."""

    stops: re.Pattern[str]
    empty: frozenset[str]
    never: frozenset[str]
    places: frozenset[str]
    begins: frozenset[str]
    words: int = 8
    several: bool = False
    named: bool = False
    only: frozenset[str] = frozenset()


def objects(text: str, start: int, end: int, language: str, limits: Limits) -> Iterator[Object]:
    """What ``text[start:end]`` names; nothing where it is no object of this predicate."""
    end = _cut(text, start, end, limits)
    articled = False
    for number, (left, right) in enumerate(_parts(text, start, end, several=limits.several)):
        some = _SOME.match(text, left, right)
        found = _ARTICLES[language].match(text, some.end() if some else left, right)
        first = found.end() if found else left
        the = (found["the"] or "").lower() if found else ""
        words = text[first:right].split()
        if number and articled != bool(the) and not (some and not articled):
            return
        if number and not the and len(words) > _LONGEST_WITHOUT_ARTICLE:
            return
        articled = articled or bool(the)
        if not _is_one(words, limits):
            return
        yield Object(first, right, "el" if the == "al" else the)


def _cut(text: str, start: int, end: int, limits: Limits) -> int:
    readable = plain(text)
    for pattern in (limits.stops, _ENDS):
        if found := pattern.search(readable, start, end):
            end = found.start()
    if not limits.several and (comma := text.find(",", start, end)) >= 0:
        end = comma
    return start + len(_TRAILING.sub("", text[start:end]))


def _parts(text: str, start: int, end: int, *, several: bool) -> Iterator[tuple[int, int]]:
    at = start + len(text[start:end]) - len(text[start:end].lstrip())
    if several:
        for found in list(_BETWEEN.finditer(text, at, end)):
            yield at, found.start()
            at = found.end()
    yield at, end


def _is_one(words: list[str], limits: Limits) -> bool:
    folded = [word for each in words for word in folded_words(each)]
    if not folded or len(words) > limits.words or limits.never & set(folded) or folded[0] in limits.begins:
        return False
    if set(folded) <= limits.empty:
        return False
    if limits.only and not _fits(" ".join(folded), limits.only):
        return False
    return not limits.named or any(word[0].isupper() for word in words) or bool(limits.places & set(folded))


def _fits(said: str, only: frozenset[str]) -> bool:
    if said in only:
        return True
    ending = next((word for word in only if said.endswith(f" {word}")), None)
    if ending is not None:
        before = said[: -len(ending)].split()
        return len(before) <= 2 and not _ADJECTIVES & set(before)
    return any(said.startswith(f"{word} de ") for word in only)
