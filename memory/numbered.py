"""The numbers in the names of snapshots (``v3``) and of runs (``r0003``)."""

from __future__ import annotations

# Whatever a person types is looked up: a number of any length would be more than SQLite takes.
_MOST_DIGITS = 9


def number_in(name: str, letter: str) -> int:
    """The number in ``name`` after ``letter``; -1, which nothing is stored under, where there is none."""
    digits = name.removeprefix(letter)
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS else -1
