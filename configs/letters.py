"""Words as they are compared by letters, in training, serving and the assistant alike."""

from __future__ import annotations

import unicodedata


def unaccented(text: str) -> str:
    """Small letters, no accents but ñ, which is a letter of its own; the same however the text encodes its accents."""
    composed = unicodedata.normalize("NFC", text.lower())
    return "ñ".join(_without_marks(part) for part in composed.split("ñ"))


def _without_marks(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
