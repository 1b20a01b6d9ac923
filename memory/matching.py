"""Whether an answer says what the correction says: a deterministic check of content, not of wording.

Names and numbers decide where the correction holds any that the question does not; else its other content
words do. An answer that denies them, or that also gives the rejected answer's own, is not right.
"""

from __future__ import annotations

import math
import re

from configs.letters import unaccented
from configs.wordlists import words_of

SHARE_OF_WORDS = 2 / 3  # of the plain content words that must appear where no name or number decides
STEM = 4  # letters that a plural or another ending may not reach below

NUMBER_WORDS = {
    word: str(number)
    for number, words in enumerate(
        (
            "zero cero", "one uno una", "two dos", "three tres", "four cuatro", "five cinco", "six seis", "seven siete",
            "eight ocho", "nine nueve", "ten diez", "eleven once", "twelve doce",
        )
    )
    for word in words.split()
} | {"half": "half", "media": "half", "quarter": "quarter", "cuarto": "quarter"}  # fmt: skip
# "one" and "una" are mostly articles: they decide nothing.
ARTICLES = frozenset({"one", "uno", "una"})
EMPTY_WORDS = words_of(
    "the a an of is are was were be been am i it its it's he she they we you my our your his her their them this that"
    " to in on at for and or with by from as do does did has have had will would can could should called named name"
    " there here please exactly just also very so if then than mrs mr ms doctor dr number"
    " el la los las un una unos unas de del al a en con por para que se es son era fue está están ser hay y o su sus"
    " mi mis nuestro nuestra nuestros nuestras tu tus lo le les me te nos llama llamamos nombre número señor señora"
    " sr sra doctora muy ya como más"
)
NEGATIONS = words_of(
    "no not never none nobody nothing n't cannot neither nor nunca nadie nada ningún ninguno ninguna jamás tampoco ni"
)
# Where a denial ends: "it is not Max, it is Toby" affirms Toby.
CLAUSE_ENDS = re.compile(r"[.,;:!?](?!\d)|\bbut\b|\bpero\b|\bsino\b")


def says_the_same(answer: str, *, question: str, chosen: str, rejected: str = "") -> bool:
    """Whether ``answer`` has the content of ``chosen``."""
    said = set(_words(answer))
    asked = set(_words(question))
    names, words = _keys(chosen, asked)
    if _negated(chosen) != _negated(answer) and not names:
        return False
    if not all(_found(key, said) for key in names) or _denied(answer, names, unless=_negated(chosen)):
        return False
    if not names and words:
        needed = math.ceil(len(words) * SHARE_OF_WORDS)
        if sum(_found(key, said) for key in words) < needed:
            return False
    if not names and not words and not all(_found(word, said) for word in _words(chosen)):
        return False
    wrong, plain = _keys(rejected, asked | set(_words(chosen)))
    if not wrong and len(_words(rejected)) == 1:
        # A name alone opens its sentence, where a large letter proves nothing.
        wrong = plain
    return not (wrong and all(_found(key, said) for key in wrong))


def names_in(text: str, question: str) -> set[str]:
    """The names of ``text``, folded, that ``question`` does not hold; numbers are none."""
    names, _ = _keys(text, set(_words(question)))
    return {name for name in names if name[0].isalpha() and name not in NUMBER_WORDS.values()}


def told_by_names(chosen: str, question: str) -> bool:
    """Whether names or numbers decide what says the same as ``chosen``, in whatever language it is said."""
    names, _ = _keys(chosen, set(_words(question)))
    return bool(names)


def _keys(text: str, asked: set[str]) -> tuple[set[str], set[str]]:
    """The names and numbers, and the other content words, of ``text`` that ``asked`` does not hold."""
    names: set[str] = set()
    words: set[str] = set()
    opens_sentence = True
    for match in re.finditer(r"[\w'’-]+|[.!?:;]", text):
        piece = match.group()
        if piece in ".!?:;":
            opens_sentence = True
            continue
        for word in _words(piece):
            if word in EMPTY_WORDS or _found(word, asked):
                continue
            numeric = any(c.isdigit() for c in word) or (word in NUMBER_WORDS.values())
            if numeric or (piece[0].isupper() and not opens_sentence):
                names.add(word)
            else:
                words.add(word)
        opens_sentence = False
    return names, words


def _words(text: str) -> list[str]:
    """Folded words: small letters, no accents, number words as digits, 14th as 14."""
    found = []
    for raw in re.findall(r"[\w'-]+", unaccented(text.replace("’", "'"))):
        word = raw.strip("'-").removesuffix("'s")
        word = re.sub(r"^(\d+)(st|nd|rd|th)$", r"\1", word)
        if word:
            found.append(word if word in ARTICLES else NUMBER_WORDS.get(word, word))
    return found


def _found(word: str, among: set[str]) -> bool:
    """Whether ``among`` holds the word, in the singular or the plural."""
    if word in among:
        return True
    forms = {word + "s", word + "es"}
    for ending in ("s", "es"):
        if word.endswith(ending) and len(word) - len(ending) >= STEM - 1 and not word.isdigit():
            forms.add(word.removesuffix(ending))
    return bool(forms & among)


def _denied(answer: str, names: set[str], *, unless: bool) -> bool:
    """Whether some name stands only in clauses that say no, where the correction itself says none."""
    clauses = [] if unless else CLAUSE_ENDS.split(answer)
    affirmed = set().union(*(_words(clause) for clause in clauses if not _negated(clause)))
    denied = set().union(*(_words(clause) for clause in clauses if _negated(clause)))
    return any(_found(name, denied) and not _found(name, affirmed) for name in names)


def _negated(text: str) -> bool:
    words = re.findall(r"[\w']+", text.lower())
    return any(word in NEGATIONS or word.endswith("n't") for word in words)
