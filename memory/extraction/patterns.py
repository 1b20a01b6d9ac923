"""The patterns of ``memory/data/facts.yaml``, compiled: what each is for, and what counts as its object."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import yaml

from memory.extraction.objects import Limits
from memory.extraction.statements import plain
from memory.text import fold, folded_words

Language = Literal["es", "en"]
Kind = Literal["self", "other", "home", "over"]
LANGUAGES: Final[tuple[Language, ...]] = ("es", "en")
_FILE: Final = Path(__file__).parents[1] / "data" / "facts.yaml"
_PLACEHOLDER: Final = re.compile(r"\{([a-z_]+)\}")
_WORD: Final = r"[A-ZÑ\u00c0-\u00d6\u00d8-\u00de][^\W\d_]*(?:['.&-][^\W\d_]+)*"
_BETWEEN: Final = r"(?: (?:de |del |de la |de los |of |the |y )?| & )"
# Words that begin with a capital: in small letters nobody can tell a name from a thing.
_NAME: Final = rf"(?-i:{_WORD}(?:{_BETWEEN}{_WORD}){{0,4}})"

# Relatives who are spoken of as if that were their name.
_CALLED: Final = {
    "en": "mum|mom|mummy|dad|daddy|grandma|grandpa|granny|grandad|granddad",
    "es": "mama|papa|abuela|abuelo|yaya|yayo",
}


@dataclass(frozen=True)
class Pattern:
    """``predicate``: a key of the file; ``kind``: whom it speaks of; ``regex`` is matched where a clause begins."""

    predicate: str
    kind: Kind
    language: Language
    regex: re.Pattern[str]
    limits: Limits


@dataclass(frozen=True)
class Predicate:
    """``many``: several hold at once. ``line``: predicates that share it take each other's place.

    ``sentences``: how a fact reads, by form and language.
    """

    key: str
    many: bool
    line: str
    sentences: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Relation:
    """Who stands in a relation: ``words`` by language; ``loose``: one has several, so that a name is needed."""

    key: str
    words: Mapping[str, tuple[str, ...]]
    loose: bool
    pet: bool


class Patterns:
    """Everything that the file says, ready to be used."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content = content
        self._parts = {language: self._all_parts(language) for language in LANGUAGES}
        self.predicates = {
            key: _predicate(key, each) for key, each in content["predicates"].items() if "is" not in each
        }
        self.relations = {
            key: Relation(key, {lang: tuple(each[lang]) for lang in LANGUAGES}, bool(each.get("loose")), pet)
            for pet, section in ((False, "relations"), (True, "pets"))
            for key, each in content[section].items()
        }
        self._relation_of = {
            (language, plain(word.lower())): relation
            for relation in self.relations.values()
            for language in LANGUAGES
            for word in relation.words[language]
        }
        self.patterns = tuple(self._compiled())
        self.fillers = {lang: self._fillers(content["fillers"][lang]) for lang in LANGUAGES}
        self.before, self.anywhere, self.passing = (
            _any(word for language in LANGUAGES for word in content["doubts"][part][language])
            for part in ("before", "anywhere", "passing")
        )
        self.works = re.compile(
            "|".join(rf"\b(?:{plain(p)})" for lang in LANGUAGES for p in content["works"][lang]), re.I
        )
        # "I'm Marta" may be something else than a name, "my name is Marta" may not.
        self.introductions = tuple(
            (self._regex(language, each), sure)
            for sure, section in ((True, "introductions"), (False, "perhaps_introductions"))
            for language in LANGUAGES
            for each in content[section][language]
        )
        self.disowned, self.all_disowned = (
            re.compile("|".join(plain(each) for lang in LANGUAGES for each in content["disowned"][part][lang]), re.I)
            for part in ("one", "all")
        )
        self.cues = {
            predicate: {language: _any(each[language], trail="") for language in LANGUAGES}
            for predicate, each in content["cues"].items()
        }
        self.own = {language: frozenset(content["own"][language].split()) for language in LANGUAGES}
        self.denials = frozenset(plain(word) for word in content["denials"].split())
        self.not_names = frozenset(fold(word) for word in content["not_names"].split())

    def limits(self, predicate: str, language: Language) -> Limits:
        """What an object of a predicate has to be."""
        return next(each.limits for each in self.patterns if (each.predicate, each.language) == (predicate, language))

    def relation(self, language: Language, word: str) -> Relation:
        """The relation that a word (as it was matched) names."""
        return self._relation_of[language, plain(word.lower())]

    def related(self, language: Language, word: str) -> Relation | None:
        """The same for any word; None for one that names no relation."""
        return self._relation_of.get((language, plain(word.lower())))

    def _all_parts(self, language: Language) -> dict[str, str]:
        content = self._content
        named = {
            key: rf"(?P<{group}>{_words(content[section], language)})"
            for key, group, section in (("relation", "rel", "relations"), ("pet", "pet", "pets"))
        }
        who = f"(?:{named['relation']}|{named['pet']})"
        person = rf"(?:,? (?P<person>{_NAME}))?"
        bare = rf"(?P<bare>{_NAME})"
        parts = {
            **content["parts"][language],
            **named,
            "name": rf"(?P<object>{_NAME})(?!'|\w)",
            "object": r"(?P<object>\S.*)",
            "digits": r"(?P<object>\+?\d[\d .-]{5,}\d)",
            "address": r"(?P<object>[\w.+-]+@[\w-]+\.[\w.-]*\w)",
            "plate": r"(?P<object>(?=[a-z -]*\d)[a-z0-9]{1,4}(?:[ -]?[a-z0-9]{1,4}){1,3})\b",
        }
        if language == "en":
            my = f"(?:(?:my|our) {parts['aged']}|(?=(?:{_CALLED[language]})\\b)){who}{person}"
            return parts | {"who": f"(?:{my},?|{bare})", "whose": f"(?:{my}|{bare})'s"}
        my = rf"(?:(?:mi|nuestr[oa]) |(?:la |el )?(?=(?:{_CALLED[language]})\b)){who}{parts['aged']}{person}"
        return parts | {"who": f"(?:{my},?|{bare})", "of_whom": f"de (?:{my}|{bare})"}

    def _regex(self, language: Language, pattern: str) -> re.Pattern[str]:
        parts = self._parts[language]
        while _PLACEHOLDER.search(pattern):
            pattern = _PLACEHOLDER.sub(lambda found: parts[found[1]], pattern)
        return re.compile(plain(pattern), re.IGNORECASE)

    def _compiled(self) -> Iterable[Pattern]:
        words = {key: frozenset(folded_words(self._content[key])) for key in ("empty", "never", "places", "begins")}
        for key, each in self._content["predicates"].items():
            for language in LANGUAGES:
                only = frozenset(" ".join(folded_words(word)) for word in each.get("only", {}).get(language, ()))
                limits = Limits(
                    _any(self._content["stops"][language], lead=r"[\s,]+"),
                    **words,
                    words=each.get("words", 8),
                    several=bool(each.get("list")),
                    named=bool(each.get("named")),
                    only=only,
                )
                for kind, patterns in each.get(language, {}).items():
                    for pattern in patterns:
                        regex = self._regex(language, pattern)
                        yield Pattern(each.get("is", key), kind, language, regex, limits)

    def _fillers(self, words: Iterable[str]) -> re.Pattern[str]:
        return re.compile(rf"(?:{_alternatives(words)})\b[\s,:!.]*", re.IGNORECASE)


@cache
def load_patterns() -> Patterns:
    """The patterns that Enlace comes with. Read once, when a first message is looked at."""
    return Patterns(yaml.safe_load(_FILE.read_text(encoding="utf-8")))


def _predicate(key: str, each: Mapping[str, Any]) -> Predicate:
    sentences = {form: each[form] for form in ("sentence", "sentence_home", "sentence_over") if form in each}
    return Predicate(key, bool(each.get("many")), each.get("line", key), sentences)


def _words(section: Mapping[str, Any], language: Language) -> str:
    return _alternatives(word for each in section.values() for word in each[language])


def _alternatives(words: Iterable[str]) -> str:
    """The longest first: an alternative that begins like another would hide it."""
    return "|".join(sorted((re.escape(plain(word)) for word in words), key=len, reverse=True))


def _any(words: Iterable[str], *, lead: str = r"(?<!\w)", trail: str = r"(?!\w)") -> re.Pattern[str]:
    return re.compile(rf"{lead}(?:{_alternatives(words)}){trail}", re.IGNORECASE)
