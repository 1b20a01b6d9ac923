"""Words as they are compared by letters, in training, serving and the assistant alike."""

from __future__ import annotations

import unicodedata


def unaccented(text: str) -> str:
    """Small letters, no accents but ñ, which is a letter of its own; the same however the text encodes its accents."""
    composed = unicodedata.normalize("NFC", text.lower())
    return "ñ".join(without_marks(unicodedata.normalize("NFD", part)) for part in composed.split("ñ"))


def without_marks(decomposed: str) -> str:
    """The text without its combining marks; its letters must stand apart from them (NFD or NFKD)."""
    return decomposed.translate(_marks)


class _Marks(dict[int, int | None]):
    """A table for str.translate that drops combining marks and learns as it goes."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.combining(chr(code)) else code
        return self[code]


_marks = _Marks()
