"""Lists of words as they are easiest to read in a source file."""

from __future__ import annotations


def words_of(text: str) -> frozenset[str]:
    """The words of ``text``, which are separated by blanks."""
    return frozenset(text.split())
