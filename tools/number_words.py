"""Numbers in words, Spanish and English, written as figures: "twenty-one", "treinta y dos", "dos mil"."""

from __future__ import annotations

import re
from typing import Final

_SMALL: Final = {
    word: value
    for value, words in enumerate(
        (
            "zero cero",
            "one uno una",
            "two dos",
            "three tres",
            "four cuatro",
            "five cinco",
            "six seis",
            "seven siete",
            "eight ocho",
            "nine nueve",
            "ten diez",
            "eleven once",
            "twelve doce",
            "thirteen trece",
            "fourteen catorce",
            "fifteen quince",
            "sixteen dieciséis dieciseis",
            "seventeen diecisiete",
            "eighteen dieciocho",
            "nineteen diecinueve",
            "twenty veinte",
            "veintiuno veintiún veintiuna",
            "veintidós veintidos",
            "veintitrés veintitres",
            "veinticuatro",
            "veinticinco",
            "veintiséis veintiseis",
            "veintisiete",
            "veintiocho",
            "veintinueve",
        )
    )
    for word in words.split()
}
_TENS: Final = {
    word: value
    for value, words in {
        20: "twenty",
        30: "thirty treinta",
        40: "forty cuarenta",
        50: "fifty cincuenta",
        60: "sixty sesenta",
        70: "seventy setenta",
        80: "eighty ochenta",
        90: "ninety noventa",
    }.items()
    for word in words.split()
}
_HUNDREDS: Final = {
    word: value * 100
    for value, words in enumerate(
        (
            "",
            "cien ciento",
            "doscientos doscientas",
            "trescientos trescientas",
            "cuatrocientos cuatrocientas",
            "quinientos quinientas",
            "seiscientos seiscientas",
            "setecientos setecientas",
            "ochocientos ochocientas",
            "novecientos novecientas",
        )
    )
    for word in words.split()
}
_SCALES: Final = {"hundred": 100, "thousand": 1000, "mil": 1000, "million": 10**6, "millón": 10**6, "millones": 10**6}
_WORDS: Final = {**_SMALL, **_TENS, **_HUNDREDS, **_SCALES}
_WORD: Final = "|".join(sorted(_WORDS, key=len, reverse=True))
# "treinta y dos" is one number; "two and three" is a sum, so "y" joins only tens and a unit.
_JOINED: Final = re.compile(
    rf"\b(?:{_WORD})\b(?:(?:[ -]|(?<=nta) y (?=(?:un[oa]?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve)\b))"
    rf"(?:{_WORD})\b)*"
)


def replace_number_words(text: str) -> str:
    """``text`` (lower case) with every number in words as figures."""
    return _JOINED.sub(_figures, text)


def _figures(run: re.Match[str]) -> str:
    """One run of number words as figures; where they do not make one number ("two three") it stays as it is."""
    total, current = 0, 0
    words = [word for word in re.split(r"[ -]+", run[0]) if word != "y"]
    for place, word in enumerate(words):
        value = _WORDS[word]
        if word in _SCALES:
            current = max(current, 1) * value
            if value >= 1000:
                total, current = total + current, 0
        elif place == 0 or _fits(current, value):
            current += value
        else:
            return run[0]
    return str(total + current)


def _fits(current: int, value: int) -> bool:
    """Whether ``value`` continues ``current``: a unit after a ten, anything below a hundred after a hundred."""
    room = (
        100 if current % 1000 >= 100 and current % 100 == 0 else 10 if current % 10 == 0 and current % 100 >= 20 else 0
    )
    return current == 0 or 0 < value < room
