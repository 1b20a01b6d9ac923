"""What a name is written like, and whose it may be."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from memory.graph.terms import Kind
from memory.text import fold

_WORDS: Final = Path(__file__).resolve().parents[2] / "data" / "names.yaml"
_LONGEST: Final = 60
_MOST_WORDS: Final = 7

_CAPITAL: Final = r"[A-ZÀ-ÖØ-Þ]"
# A word of a name; St. and Dr. have a point of their own, which ends no sentence.
_WORD: Final = rf"(?:(?:St|Sta|Sto|Dr|Dra)\.\s|{_CAPITAL}[\w'’&-]*)"
_JOINT: Final = r"(?:(?:de\s(?:la|las|los)|del|de|of\sthe|of|van\sder|van|von|da|do|dos|di|la|los|las)\s)?"
# A point behind Ltd or Inc ends the sentence, where it does not go on.
LEGAL: Final = (
    r"(?:S\.\s?L\.(?:\s?U\.)?|S\.\s?A\.(?:\s?U\.)?|S\.\s?Coop\.?|SL|SA"
    r"|Ltd(?:\.(?=,?\s[a-z]))?|Limited|Inc(?:\.(?=,?\s[a-z]))?|LLC|LLP|plc|PLC|GmbH)"
)
# One name: words with capital letters, what joins them, and the legal form of a company.
NAME: Final = rf"{_WORD}(?:\s{_JOINT}(?!{LEGAL}(?!\w)){_WORD}){{0,6}}(?:,?\s{LEGAL}(?!\w))?"
_LEGAL_END: Final = re.compile(rf"(?:^|[\s,]){LEGAL}$")
_WHOLE: Final = re.compile(NAME)
_IBAN: Final = re.compile(r"\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]){11,30}\b")
_EMAIL: Final = re.compile(r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.)+[A-Za-z][\w-]{1,30}")
_PHONE: Final = re.compile(r"\+?\(?\d[\d ()./-]{5,20}\d")
_DIGITS_OF_A_PHONE: Final = range(7, 16)


@cache
def _told() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(_WORDS.read_text(encoding="utf-8"))
    return found


@cache
def words_of(part: str) -> frozenset[str]:
    """The words of a part of the list that is written with spaces between them."""
    return frozenset(fold(_told()[part]).split())


@cache
def phrases_of(part: str) -> tuple[str, ...]:
    """The phrases of a part that is written with bars between them."""
    return tuple(phrase.strip() for phrase in fold(_told()[part]).split("|") if phrase.strip())


@cache
def synonyms(part: str) -> dict[str, str]:
    """Of ``fields`` or ``lists``: what each of the ways to write one stands for."""
    return {
        " ".join(way.split()): name
        for name, ways in _told()[part].items()
        for way in fold(ways).split("|")
        if way.strip()
    }


def key_of(written: str) -> str:
    """A field's name, folded, with one space between words: ``Fecha_límite`` is ``fecha limite``."""
    return " ".join(re.findall(r"[^\W_]+", fold(written)))


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Where a name begins in ``text[start:end]`` once the words are taken away that only open a sentence."""
    opening = words_of("starts")
    while (found := re.match(r"\S+\s+", text[start:end])) and fold(found[0].strip(" ,.;:¿¡\n\t")) in opening:
        start += found.end()
    return start, end


def is_name(name: str) -> bool:
    """Whether a whole text is one name, and no more."""
    words = fold(name).split()
    return (
        bool(_WHOLE.fullmatch(name))
        and len(name) <= _LONGEST
        and len(words) <= _MOST_WORDS
        and words[0] not in words_of("starts")
        and not words_of("never") & set(words)
    )


def is_company(name: str) -> bool:
    """Whether a name says by itself that it is what people work at."""
    return bool(_LEGAL_END.search(name)) or bool(words_of("company") & set(re.findall(r"[^\W\d_]+", fold(name))))


def is_place(name: str) -> bool:
    """Whether it is a place that everybody knows."""
    return fold(name) in phrases_of("places")


def may_be(kind: Kind, name: str) -> bool:
    """Whether a name in a sentence may be one of this kind."""
    words = fold(name).split()
    if not is_name(name):
        return False
    if kind == "person":
        plain = not any(letter.isdigit() for letter in name) and not is_company(name) and not is_place(name)
        return plain and 2 <= len(words) <= 5 and not words_of("roles") & {words[0]}
    if kind == "place":
        return not is_company(name) and not words_of("streets") & set(words) and len(words) <= 4
    if kind == "company":
        return not is_place(name)
    return True


def is_role(text: str) -> bool:
    """Whether it says what somebody is: a word that does, and up to two more."""
    words = re.findall(r"[^\W\d_]+", fold(text))
    return 1 <= len(words) <= 4 and bool(words_of("roles") & set(words))


def iban(text: str) -> str | None:
    """An account's number in groups of four, where the whole text is one and its check digits are right (ISO 13616)."""
    plain = re.sub(r"\s", "", text).upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", plain):
        return None
    moved = plain[4:] + plain[:4]
    if not 2 <= int(plain[2:4]) <= 98 or int("".join(str(int(sign, 36)) for sign in moved)) % 97 != 1:
        return None
    return " ".join(plain[at : at + 4] for at in range(0, len(plain), 4))


def ibans(text: str) -> list[tuple[int, int, str]]:
    """Every account's number in a text: start, end, the number."""
    found = []
    for match in _IBAN.finditer(text):
        # What follows a number in capital letters may look like a part of it.
        for end in range(match.end(), match.start() + 14, -1):
            if number := iban(text[match.start() : end]):
                found.append((match.start(), match.start() + len(text[match.start() : end].rstrip()), number))
                break
    return found


def emails(text: str) -> list[tuple[int, int, str]]:
    """Every e-mail address: start, end, in small letters."""
    return [
        (match.start(), match.start() + len(match[0].rstrip(".")), match[0].rstrip(".").lower())
        for match in _EMAIL.finditer(text)
    ]


def phones(text: str) -> list[tuple[int, int, str]]:
    """Every number that may be dialled: start, end, its digits, after a plus where one is written."""
    found = []
    for match in _PHONE.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if len(digits) in _DIGITS_OF_A_PHONE and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", match[0]):
            found.append((match.start(), match.end(), ("+" if match[0].startswith("+") else "") + digits))
    return found
