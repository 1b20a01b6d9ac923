"""Texts of JSON as GBNF: characters, keys that are not among given ones, and the formats of JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

# Every character as itself, but for those that JSON wants escaped; so no half of a surrogate pair is written and
# each item is one character of the text.
PLAIN = r'[^"\\\x7F\x00-\x1F]'
ESCAPED = r'"\\" ["\\/bfnrt]'
CHARACTER = f"{PLAIN} | {ESCAPED}"
TWO = "[0-9] [0-9]"
HEX = "[0-9a-fA-F]"
# Brackets in brackets, of which a grammar may have only so many.
MOST_BRANCHINGS = 20
LONG_MONTHS = '("0" [13578] | "1" [02])'
SHORT_MONTHS = '("0" [469] | "11")'
LEAP = '("0" [48] | [2468] [048] | [13579] [26])'
LEAP_CENTURY = '("0" [048] | [2468] [048] | [13579] [26])'
DATE = (
    f'{TWO} {TWO} "-" ({LONG_MONTHS} "-" ("0" [1-9] | [12] [0-9] | "3" [01])'
    f' | {SHORT_MONTHS} "-" ("0" [1-9] | [12] [0-9] | "30") | "02-" ("0" [1-9] | "1" [0-9] | "2" [0-8]))'
    f' | ({TWO} {LEAP} | {LEAP_CENTURY} "00") "-02-29"'
)
HOUR, SIXTY = '([01] [0-9] | "2" [0-3])', "[0-5] [0-9]"
TIME = f'{HOUR} ":" {SIXTY} ":" {SIXTY} ("." [0-9]{{1,6}})? ("Z" | [+-] {HOUR} ":" {SIXTY})'
BYTE = '("25" [0-5] | "2" [0-4] [0-9] | "1" [0-9] [0-9] | [1-9] [0-9] | [0-9])'
ATOM = "[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]{1,30}"
FORMATS: Mapping[str, str] = {
    "date": DATE,
    "time": TIME,
    "date-time": f'({DATE}) "T" ({TIME})',
    "uuid": ' "-" '.join(f"{HEX}{{{count}}}" for count in (8, 4, 4, 4, 12)),
    "ipv4": ' "." '.join([BYTE] * 4),
    "email": f'{ATOM} ("." {ATOM}){{0,4}} "@" [a-zA-Z0-9]{{1,30}} ("-" [a-zA-Z0-9]{{1,30}}){{0,4}} '
    '("." [a-zA-Z0-9]{1,30} ("-" [a-zA-Z0-9]{1,30}){0,4}){0,3} "." [a-zA-Z]{2,20}',
}


def literal(text: str) -> str:
    """A text as GBNF writes it, to be read letter for letter."""
    return '"' + "".join(_escaped(character) for character in text) + '"'


def length_rule(character: str, least: int, most: int | None) -> str:
    """A text of ``least`` to ``most`` characters, each read by the rule named ``character``."""
    bounds = f"{{{least},{'' if most is None else most}}}" if (least, most) != (0, None) else "*"
    return rf'"\"" {character}{bounds} "\""' if most != 0 else r'"\"\""'


def other_key_rule(names: Iterable[str], character: str) -> str | None:
    """A key that is none of ``names``; None where one of them holds a character that JSON writes in two ways.

    ``character`` names the rule of one character of a text.
    """
    names = set(names)
    if any(_escaped_in_json(letter) for name in names for letter in name):
        return None
    return rf'"\"" ({_not_in(names, character)})'


def _not_in(names: set[str], character: str) -> str:
    """The rest of a key, up to and with its quotation mark, that is the rest of none of ``names``."""
    heads = sorted({name[0] for name in names if name})
    others = "".join(_class_escaped(head) for head in heads)
    choices = [rf'([^"\\\x7F\x00-\x1F{others}] | {ESCAPED}) {character}* "\""']
    if "" not in names:
        choices.append(r'"\""')
    for head in heads:
        rests = {name[1:] for name in names if name.startswith(head)}
        choices.append(f"{literal(head)} ({_not_in(rests, character)})")
    return " | ".join(choices)


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else f"\\U{ord(character):08X}"


def _class_escaped(character: str) -> str:
    return f"\\U{ord(character):08X}"


def _escaped_in_json(character: str) -> bool:
    return json.dumps(character, ensure_ascii=False) != f'"{character}"' or character in "/\x7f"


def any_of(texts: Iterable[str], depth: int = 0) -> str:
    """One of several texts, which are read together as far as they begin alike: many of them cost little then."""
    texts = sorted(set(texts))
    if len(texts) == 1 or depth > MOST_BRANCHINGS:
        return " | ".join(map(literal, texts))
    choices = []
    for head in dict.fromkeys(text[:1] for text in texts):
        group = [text for text in texts if text[:1] == head]
        shared = group[0][: _alike(group[0], group[-1])]
        rests = [text[len(shared) :] for text in group]
        choices.append(literal(shared) if len(group) == 1 else f"{literal(shared)} ({any_of(rests, depth + 1)})")
    return " | ".join(choices)


def _alike(one: str, other: str) -> int:
    """How many characters two texts have in common from the beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
