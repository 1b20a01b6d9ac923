"""How a fact reads: one sentence of the third person, in the language in which it was said."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from memory.extraction.patterns import Language, Patterns
from memory.extraction.people import Subject
from memory.extraction.reader import Found

_PLURAL: Final = frozenset(("los", "las", "unos", "unas", "mis", "nuestros", "nuestras"))
_DEFINITE: Final = frozenset(("el", "la", "los", "las", "the"))
_CONTRACTED: Final = ((re.compile(r"\ba el\b"), "al"), (re.compile(r"\bde el\b"), "del"))
_FEMININE: Final = frozenset(("madre", "mujer"))
_VOWEL: Final = re.compile("[aeiou]", re.IGNORECASE)


def sentence(found: Found, subject: Subject, patterns: Patterns, at: float) -> str:
    """What is shown of ``found``, said ``at`` a time in seconds since 1970."""
    sentences = patterns.predicates[found.predicate].sentences
    form = "sentence_over" if found.over else "sentence_home" if found.whom.kind == "home" else "sentence"
    template = sentences.get(form, sentences["sentence"])[found.language]
    the = f"{found.the} {found.object}" if found.the in _DEFINITE else found.object
    text = template.format(
        subject=subject.text,
        object=found.object,
        the=the,
        n="n" if found.the in _PLURAL else "",
        a="an" if _VOWEL.match(found.object) else "a",
        detail=found.detail,
        place=found.place,
        year=datetime.fromtimestamp(at, UTC).year,
        relation_of=_relation_of(subject.text, found.detail, found.word, found.language),
    )
    if found.language == "es":
        for pattern, contracted in _CONTRACTED:
            text = pattern.sub(contracted, text)
    return text[:1].upper() + text[1:]


def _relation_of(subject: str, relation: str, word: str, language: Language) -> str:
    """ "La hermana de Ana", "Ana's sister": how a sentence about a relative begins."""
    if language == "en":
        return f"{subject}'s {word or relation}"
    article = "La" if word.endswith("a") or word in _FEMININE else "El"
    return f"{article} {word or relation} de {subject}"
