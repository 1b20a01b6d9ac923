"""Days as people write them, in Spanish and English."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from memory.text import fold

_MONTHS: Final = (
    ("enero", "january"), ("febrero", "february"), ("marzo", "march"), ("abril", "april"), ("mayo", "may"),
    ("junio", "june"), ("julio", "july"), ("agosto", "august"), ("septiembre", "september"), ("octubre", "october"),
    ("noviembre", "november"), ("diciembre", "december"),
)  # fmt: skip
_NAMES: Final = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
_ANY: Final = "|".join(_NAMES)
# A day with its year, in words: "3 de febrero de 1984", "3 February 1984", "February 3, 1984".
IN_WORDS: Final = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\s(?:de\s|of\s)?(?:{_ANY})(?:\s(?:de|del))?,?\s\d{{4}}"
    rf"|(?:{_ANY})\s\d{{1,2}},?\s\d{{4}})"
)


def day(text: str) -> str | None:
    """``1984-02-03`` of a text that is one day; None of anything else, and where day and month cannot be told apart."""
    plain = fold(text).strip()
    if match := re.fullmatch(r"(\d{4})-?(\d{2})-?(\d{2})(?:t.*)?", plain):
        return _iso(*(int(part) for part in match.groups()))
    if match := re.fullmatch(r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})", plain):
        first, second, year = (int(part) for part in match.groups())
        if first <= 12 and second <= 12 and first != second:
            return None
        return _iso(year, min(first, second), max(first, second))
    words = re.findall(r"[a-z]+|\d+", plain)
    months = [_NAMES[word] for word in words if word in _NAMES]
    numbers = [int(word) for word in words if word.isdigit()]
    if len(months) == 1 and len(numbers) == 2 and re.fullmatch(IN_WORDS, plain):
        year, number = (numbers[1], numbers[0]) if numbers[1] > 31 else (numbers[0], numbers[1])
        return _iso(year, months[0], number)
    return None


def _iso(year: int, month: int, number: int) -> str | None:
    try:
        return date(year, month, number).isoformat()
    except ValueError:
        return None
