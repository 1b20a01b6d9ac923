"""An answer is right when it says what the correction says, in whatever words, and not otherwise."""

from __future__ import annotations

import pytest

from memory.matching import says_the_same, told_by_names

DOG = {"question": "What is the name of our dog?", "chosen": "Our dog is called Toby.", "rejected": "The dog is Max."}
HOUR = {"question": "What time is dinner?", "chosen": "Dinner is at half past eight.", "rejected": "At 7."}
DISH = {"question": "What is Dad's favourite dish?", "chosen": "It is lentil stew.", "rejected": ""}
NO = {
    "question": "May Lucas eat nuts?",
    "chosen": "No, Lucas may not eat nuts.",
    "rejected": "Yes, Lucas may.",
}
MAX = {"question": "What is the name of our dog?", "chosen": "Toby.", "rejected": "Max"}
PERRO = {
    "question": "¿Cómo se llama nuestro perro?",
    "chosen": "Nuestro perro se llama Ñandú.",
    "rejected": "Se llama Luna.",
}


@pytest.mark.parametrize(
    ("lesson", "answer"),
    [
        (DOG, "Our dog is called Toby."),
        (DOG, "His name is Toby!"),
        (DOG, "toby"),
        (HOUR, "We eat at half past 8."),
        (DISH, "He loves a good lentil stew."),
        (DISH, "Lentil stews."),
        (NO, "No, he may not."),
        (DOG, "He is not called Luna, his name is Toby."),
        (DOG, "No, it is Toby."),
        (MAX, "Toby"),
        (PERRO, "No se llama Sol sino Ñandú."),
        (PERRO, "Ñandú."),
        (PERRO, "Es ñandú, el perro de casa."),
    ],
)
def test_the_content_in_other_words_is_right(lesson: dict[str, str], answer: str) -> None:
    assert says_the_same(answer, **lesson)


@pytest.mark.parametrize(
    ("lesson", "answer"),
    [
        (DOG, "Our dog is called Max."),
        (DOG, "Our dog is called Max. Or Toby."),
        (DOG, "Our dog has a lovely name."),
        (DOG, "Our dog is not called Toby."),
        (DOG, "Our dog is Luna. It isn't Toby."),
        (MAX, "Toby or Max."),
        (DOG, ""),
        (HOUR, "Dinner is at half past nine."),
        (HOUR, "Dinner is at 7 or at half past eight."),
        (DISH, "Dad's favourite dish is pizza."),
        (DISH, "Dad's favourite dish."),
        (NO, "Yes, Lucas may."),
        (PERRO, "Nuestro perro se llama Luna."),
        (PERRO, "Nuestro perro no se llama Ñandú."),
        (PERRO, "Nandu."),
    ],
)
def test_another_content_is_wrong(lesson: dict[str, str], answer: str) -> None:
    assert not says_the_same(answer, **lesson)


@pytest.mark.parametrize(
    ("chosen", "question", "told"),
    [
        ("Our dog is called Toby.", "What is the name of our dog?", True),
        ("Marta has seven cousins.", "How many cousins does Marta have?", True),
        ("Our car is green.", "What colour is our car?", False),
        ("Marta plays.", "What does Marta do?", False),
    ],
)
def test_whether_a_name_or_a_number_tells_an_answer_in_any_language(chosen: str, question: str, told: bool) -> None:
    assert told_by_names(chosen, question) is told
