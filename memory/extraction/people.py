"""Whom a statement is about: the member, somebody whom the family knows, or the household; or nobody for sure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from memory.extraction.patterns import Language, Patterns, Relation
from memory.extraction.reader import Found, Whom
from memory.fact_rows import About
from memory.text import fold, folded_words

# Whoever spoke said neither that they are the member nor, for sure, that they are not.
UNSURE: Final = "?"
_THEIR: Final = re.compile(r"(?P<es_word>[\w-]+) de (?P<es_of>.+)|(?P<en_of>.+)'s (?P<en_word>[\w -]+)")


@dataclass(frozen=True)
class Known:
    """Somebody whom the family told of. ``mine``: it was this member who did."""

    name: str
    relation: str
    mine: bool


@dataclass(frozen=True)
class Circle:
    """Who may be meant. ``named``: whether the member's name was chosen by a person; ``others``: (id, name)."""

    member_id: str
    name: str
    named: bool
    others: tuple[tuple[str, str], ...] = ()
    known: tuple[Known, ...] = ()

    def is_own(self, name: str) -> bool:
        """Whether a name may be the member's: "Ana Ruiz" is Ana's."""
        return bool(set(folded_words(name)) & set(folded_words(self.name)))


@dataclass(frozen=True)
class Subject:
    """``text``: as it is shown, empty for the household itself."""

    text: str
    about: About
    member_id: str | None = None


def speaker_of(introduced: str | None, circle: Circle, before: str = "") -> str:
    """Who speaks: empty for the member, a name for a guest, UNSURE where nobody can tell."""
    if introduced is None:
        return before
    if introduced == "":
        return UNSURE
    return "" if circle.is_own(introduced) or not circle.named else introduced


def subject_of(found: Found, circle: Circle, speaker: str, patterns: Patterns) -> Subject | None:
    """Whom ``found`` is about; None where that is not certain, and nothing is remembered then."""
    whom = found.whom
    if speaker:
        # A guest's own words about themselves are worth keeping; of their relatives the family knows nothing.
        own = whom.kind == "self" and found.predicate not in ("relative", "pet")
        return Subject(speaker, "person") if own and speaker != UNSURE else None
    if whom.kind == "home":
        return Subject(whom.thing, "household")
    if whom.kind != "other":
        return Subject(circle.name, "member", circle.member_id)
    if whom.relation:
        return _relative(whom, circle, patterns.relations[whom.relation], found)
    return _by_name(whom.name, circle, patterns, found.language)


def subject_key(subject: str, patterns: Patterns) -> str:
    """What two ways of naming one person have in common: "madre de Ana" and "Ana's mother" are one."""
    if found := _THEIR.fullmatch(subject):
        language: Language = "es" if found["es_word"] else "en"
        word, of = (found["es_word"], found["es_of"]) if language == "es" else (found["en_word"], found["en_of"])
        if relation := patterns.related(language, word):
            return f"{relation.key} {fold(of)}"
    return fold(subject)


def _relative(whom: Whom, circle: Circle, relation: Relation, found: Found) -> Subject | None:
    word = relation.words[found.language][0]
    if whom.name:
        namesakes = [name for _, name in circle.others if fold(name) == fold(whom.name)]
        # A son of one's own name, or of another member's, is told apart from them.
        shared = circle.is_own(whom.name) or namesakes
        return Subject(f"{whom.name} ({word})" if shared else whom.name, "person")
    if relation.loose:
        return None
    named = {each.name for each in circle.known if each.mine and each.relation == relation.key}
    if len(named) == 1:
        return _relative(Whom("other", relation.key, named.pop()), circle, relation, found)
    if named:
        return None
    text = f"{circle.name}'s {word}" if found.language == "en" else f"{word} de {circle.name}"
    return Subject(text, "person")


def _by_name(name: str, circle: Circle, patterns: Patterns, language: Language) -> Subject | None:
    """Somebody named alone: only whom exactly one of the people that the family knows is called so."""
    wanted = fold(name)
    members = [(member_id, member) for member_id, member in circle.others if fold(member) == wanted]
    known = {(each.name, each.relation) for each in circle.known if fold(each.name) == wanted}
    if circle.is_own(name) or len(members) + len(known) != 1:
        return None
    if members:
        return Subject(members[0][1], "person", members[0][0])
    return Subject(known.pop()[0], "person")
