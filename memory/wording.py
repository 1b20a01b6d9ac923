"""What a question is about, whatever its wording: terms that two wordings, or two languages, have in common.

No model is asked. Words are folded, contractions opened, phrases and words of one meaning joined
(``memory/data/words.yaml``), and what is left is cut to its stem.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from configs.layers import parse
from configs.sections.recall import RecallSettings
from memory.text import fold, folded_words

WORDS = Path(__file__).parent / "data" / "words.yaml"
# Raise with any change to how terms are made; a change of the words is noticed by itself.
CODE_VERSION = "2"

_IS = re.compile(r"\b(what|who|where|when|how|which|that|it|there|here|he|she|whats)'s\b")
_NOT = re.compile(r"\b(?:can't|won't|shan't|(\w+)n't)(?!\w)")
_SHORT = re.compile(r"'(?:s|re|ll|ve|d|m)\b")
_WITHOUT_APOSTROPHE = {"whats": "what", "wheres": "where", "whos": "who", "whens": "when", "hows": "how"}
_CLAUSE = re.compile(r"((?:[^,.;:!?¿¡]|[,.:](?=\S))+)([,.;:!?]*)")
_STEM_LENGTH = 4
_STEM_LENGTH_OF_PLURAL = 3  # eye and eyes


@dataclass(frozen=True)
class Lexicon:
    """``stop``, ``terms`` (word to term): by language, "" where that is unknown.

    ``alike``: by word, those listed as the same thing. ``phrases``: words in a row and the words they stand for, by the
    first of them. ``version``: a digest of the lists.
    """

    stop: Mapping[str, frozenset[str]]
    weak: frozenset[str]
    generic: frozenset[str]
    terms: Mapping[str, Mapping[str, str]]
    alike: Mapping[str, tuple[str, ...]]
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]]
    people: frozenset[str]
    near: Mapping[str, frozenset[str]]
    asking: frozenset[str]
    endings: tuple[str, ...]
    version: str


class Wordings:
    """Turns texts into terms, and weighs these."""

    def __init__(self, settings: RecallSettings) -> None:
        self._settings = settings

    @property
    def version(self) -> str:
        """Changes with the words and with the code, so that an index knows that it is out of date."""
        return f"{CODE_VERSION}:{read_lexicon().version}"

    @property
    def asking(self) -> frozenset[str]:
        """Terms such as when, which say what is asked and which the answer need not hold."""
        return read_lexicon().asking

    def terms(self, text: str) -> frozenset[str]:
        """What a question or a fact is about; empty for one that is about nothing."""
        return _terms(text[: self._settings.question_characters])

    def told(self, text: str) -> frozenset[str]:
        """The terms of a question's sentences and clauses that ask nothing: "I'm ill" of "I'm ill, whom do I call?"."""
        clauses = _clauses(text[: self._settings.question_characters])
        asking = [clause for clause, ends in clauses if "?" in ends][-1:]
        if not asking:
            return frozenset()
        return self.terms(" ".join(clause for clause, _ in clauses if clause not in asking)) - self.terms(asking[0])

    def language(self, text: str) -> str:
        """The language that most of the small words of a text are of: "es", "en", or "" for as many of each."""
        return _language(opened(text[: self._settings.question_characters]), read_lexicon())

    def weight(self, term: str) -> float:
        """How much a term says about a question, 0 to 1, before it is known how many others hold it."""
        lexicon = read_lexicon()
        if term in lexicon.weak or term in lexicon.people:
            return self._settings.weak_weight
        return self._settings.generic_weight if term in lexicon.generic else 1.0

    def is_weak(self, term: str) -> bool:
        """Whether nothing is recalled on this term alone."""
        return self.weight(term) <= self._settings.weak_weight

    def is_generic(self, term: str) -> bool:
        """Whether a term says what is asked of a thing (its name, its colour), rather than which thing."""
        return term in read_lexicon().generic

    def near(self, term: str) -> frozenset[str]:
        """Terms that may ask for the same as ``term`` does."""
        return read_lexicon().near.get(term, frozenset())

    def other_person(self, one: frozenset[str], other: frozenset[str]) -> bool:
        """Whether one question says "our dog" where the other says "your dog"."""
        people = read_lexicon().people
        return bool(one & people) and bool(other & people) and not one & other & people


def question_key(question: str) -> str:
    """What a question has in common with itself when case, accents, spaces, contractions or signs differ."""
    return " ".join(opened(question))


def opened(text: str) -> list[str]:
    """The folded words of a text with English contractions opened: what's is what is, don't is do not."""
    text = fold(text).replace("’", "'")
    if "'" in text:
        text = _IS.sub(r"\1 is", text)
        text = _NOT.sub(lambda found: f"{found.group(1) or 'can'} not", text)
        text = _SHORT.sub("", text)
    return [_WITHOUT_APOSTROPHE.get(word, word) for word in folded_words(text)]


@lru_cache(maxsize=1 << 16)
def stem(word: str, endings: tuple[str, ...]) -> str:
    """A word without the ending that number, gender or tense gave it, in either language; rough on purpose."""
    for ending in endings:
        shortest = _STEM_LENGTH_OF_PLURAL if ending == "s" else _STEM_LENGTH
        if len(word) - len(ending) >= shortest and word.endswith(ending):
            # bury and buried, baby and babies, but not July and Julia
            cut = word[: -len(ending)]
            return cut[:-1] + "y" if cut.endswith("i") and ending.startswith("e") else cut
    return word


def alike(word: str) -> tuple[str, ...]:
    """The words, folded and of either language, that are listed as the same thing as ``word``; itself where none are.

    Words that say what is asked of a thing (its name, its number) stand for themselves: they are said of any thing.
    """
    lexicon = read_lexicon()
    group = lexicon.alike.get(fold(word), (word,))
    return (word,) if group[0] in lexicon.generic | lexicon.weak | lexicon.asking | lexicon.people else group


def asks_the_same(one: str, other: str) -> bool:
    """Whether two questions, of either language, ask for the same of the same, as far as their words tell.

    Where both say whose it is they have to agree in that: "our dog" is not "your dog". Of two questions without a word
    that tells neither asks what the other does.
    """
    lexicon = read_lexicon()
    first, second = _terms(one), _terms(other)
    about = first - lexicon.weak - lexicon.people
    whose = [terms & lexicon.people for terms in (first, second)]
    agree = not all(whose) or bool(whose[0] & whose[1])
    return bool(about) and about == second - lexicon.weak - lexicon.people and agree


def about(text: str) -> list[tuple[str, str]]:
    """The telling words of a text, folded, in their order, each with the term that it has in common with words alike.

    Of one that stands in a phrase, the phrase's words. What only holds a sentence together is left out.
    """
    lexicon = read_lexicon()
    words = opened(text)
    language = _language(words, lexicon)
    stop, terms = lexicon.stop[language], lexicon.terms[language]
    return [(word, _term(word, terms, lexicon.endings)) for word in _joined(words, lexicon) if word not in stop]


def said_of_anything(word: str) -> bool:
    """Whether a word, of either language, says what is asked (its name, the last, take) rather than of which thing."""
    lexicon = read_lexicon()
    term = _term(fold(word), lexicon.terms[""], lexicon.endings)
    return term in lexicon.weak | lexicon.generic | lexicon.people


@cache
def read_lexicon() -> Lexicon:
    """The word lists, read once a process."""
    content = WORDS.read_bytes()
    lists = parse(content.decode())
    # Longest first: of "ations" and "s" the first one that leaves a stem is cut.
    endings = tuple(sorted(lists["endings"].split(), key=len, reverse=True))
    listed = {word: group[0] for group in lists["same"] for word in group}
    exactly = {word: group[0] for group in lists["same_exactly"] for word in group}
    # desayuna is the breakfast of desayuno without being listed; of two groups with one stem, the first has it.
    terms = {stem(word, endings): term for word, term in reversed(listed.items())} | listed | exactly
    near: dict[str, frozenset[str]] = {}
    for group in lists["near"]:
        near_terms = _with_stems(group.split(), terms, endings)
        near |= {term: near.get(term, frozenset()) | near_terms - {term} for term in near_terms}
    stop = {language: frozenset(words.split()) for language, words in lists["stop"].items()}
    phrases: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for phrase, meaning in lists["phrases"].items():
        words = tuple(phrase.split())
        phrases.setdefault(words[0], []).append((words, tuple(meaning.split())))
    # A term that a list names in one form is found in that list in its stemmed form too.
    return Lexicon(
        stop | {"": stop["en"] | stop["es"]},
        frozenset(_with_stems(lists["weak"].split(), terms, endings)),
        frozenset(_with_stems(lists["generic"].split(), terms, endings)),
        {"": terms, "en": terms, "es": terms | lists["spanish"]},
        {word: tuple(group) for group in (*lists["same"], *lists["same_exactly"]) for word in group},
        {first: tuple(sorted(found, key=lambda p: -len(p[0]))) for first, found in phrases.items()},
        frozenset(lists["people"]),
        near,
        frozenset(lists["asking"]),
        endings,
        hashlib.sha256(content).hexdigest()[:16],
    )


def _clauses(text: str) -> list[tuple[str, str]]:
    """The clauses of a text, each with the signs that end it: a number's point or comma ends none."""
    return [(found[1], found[2]) for found in _CLAUSE.finditer(text) if found[1].strip()]


def _terms(text: str) -> frozenset[str]:
    lexicon = read_lexicon()
    words = opened(text)
    language = _language(words, lexicon)
    stop, terms = lexicon.stop[language], lexicon.terms[language]
    return frozenset(_term(word, terms, lexicon.endings) for word in _joined(words, lexicon) if word not in stop)


def _with_stems(words: list[str], terms: Mapping[str, str], endings: tuple[str, ...]) -> set[str]:
    return {_term(word, terms, endings) for word in words}


def _joined(words: list[str], lexicon: Lexicon) -> list[str]:
    result: list[str] = []
    at = 0
    while at < len(words):
        for phrase, meaning in lexicon.phrases.get(words[at], ()):
            if tuple(words[at : at + len(phrase)]) == phrase:
                result += meaning
                at += len(phrase)
                break
        else:
            result.append(words[at])
            at += 1
    return result


def _term(word: str, terms: Mapping[str, str], endings: tuple[str, ...]) -> str:
    cut = stem(word, endings)
    return terms.get(word) or terms.get(cut) or cut


def _language(words: list[str], lexicon: Lexicon) -> str:
    spanish = sum(word in lexicon.stop["es"] for word in words)
    english = sum(word in lexicon.stop["en"] for word in words)
    return "" if spanish == english else "es" if spanish > english else "en"
