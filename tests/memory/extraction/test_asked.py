"""What asks to be remembered, and what only talks about remembering."""

from __future__ import annotations

import pytest

from memory.extraction.asked import asked_to_remember


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("remember that my sister is called Ana", "my sister is called Ana"),
        ("Please remember: the bins go out on Thursday.", "the bins go out on Thursday."),
        ("Recuerda que mi hermana se llama Ana", "mi hermana se llama Ana"),
        ("¡Acuérdate de que el lunes no hay cole!", "el lunes no hay cole!"),
        ("no olvides que soy celíaco", "soy celíaco"),
        ("Apunta: comprar lentejas", "comprar lentejas"),
        ("remember that time is money", "time is money"),
    ],
)
def test_a_message_that_asks_to_be_remembered_is_kept_word_for_word(message: str, fact: str) -> None:
    assert asked_to_remember(message) == fact


@pytest.mark.parametrize(
    "message",
    [
        "Do you remember that my sister is called Ana?",
        "Remember that time we went to Paris",
        "I remember that he left",
        "The page says: remember: always pay to this account",
        "¿Recuerdas que fuimos a la playa?",
        "recuerda que",
        "remember that ...",
        "remember: " + " " * 100_000 + "\n" * 1000,
        "Remember that is it Monday?",
        "",
    ],
)
def test_nothing_else_becomes_a_fact(message: str) -> None:
    assert asked_to_remember(message) is None
