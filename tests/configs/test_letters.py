"""Letters are told apart as Spanish does, however they are encoded."""

from __future__ import annotations

import unicodedata

import pytest

from configs.letters import unaccented


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("El AÑO de Ñandú", "el año de ñandu"),
        ("pingüino", "pinguino"),
        ("São Tomé, Český", "sao tome, cesky"),
        ("Straße", "straße"),
        ("ab\0c", "ab\0c"),
        ("", ""),
    ],
)
def test_accents_are_taken_away_but_ñ_stays_however_they_are_encoded(text: str, letters: str) -> None:
    assert unaccented(text) == letters
    assert unaccented(unicodedata.normalize("NFD", text)) == letters
