"""When an answer says what a lesson teaches."""

from __future__ import annotations

import pytest

from app.assistant.grounding import by_lesson
from memory.lessons import Lesson


def lesson(question: str, chosen: str, rejected: str = "") -> Lesson:
    messages = ({"role": "user", "content": question},)
    return Lesson("l", "m", "private", "edit", messages, chosen, rejected, None, 0.0)


@pytest.mark.parametrize(
    ("taught", "asked", "answer", "holds"),
    [
        (lesson("What is the name of our dog?", "Our dog is called Toby.", "Max"), "our dog?", "It is Toby", True),
        (lesson("What is the name of our dog?", "Our dog is called Toby.", "Max"), "our dog?", "It is Max", False),
        (lesson("What is Dad allergic to?", "Dad is allergic to walnuts."), "Dad's allergy?", "To nuts.", False),
        (lesson("What is Dad allergic to?", "Dad is allergic to walnuts."), "Dad's allergy?", "A walnut!", True),
        (lesson("How long?", "Seven minutes.", "Ten minutes."), "How long?", "Ten minutes", False),
        (lesson("How long?", "Seven minutes.", "Ten minutes."), "How long?", "seven", True),
        (lesson("¿Cómo se llama?", "Se llama Núñez."), "¿Cómo?", "NUNEZ", True),
        (lesson("¿Cómo se llama?", "Se llama Nu\u0301n\u0303ez."), "¿Cómo?", "Núñez", True),
        (lesson("¿Cómo se llama?", "Se llama Nu\u0301n\u0303ez."), "¿Cómo?", "Se llama Nu", False),
        (lesson("Which bus?", "The 14."), "Which bus?", "Bus 14", True),
        (lesson("The code?", "It is xK9-bLue-77."), "The code?", "It is xK9-bLue-77!", True),
        (lesson("The code?", "It is xK9-bLue-77."), "The code?", "**xK9-bLue-77**", True),
        (lesson("The code?", "It is xK9-bLue-77."), "The code?", "It is xK9-bLUE-77.", False),
        (lesson("The code?", "It is xK9-bLue-77."), "The code?", "It is xK9-bLue-777.", False),
        (lesson("The code?", "It is xK9-bLue-77.", "xK9-bLUE-77"), "The code?", "It is xK9-bLue-77.", True),
        (lesson("¿La clave?", "La clave es tortilla42."), "¿La clave?", "Tortilla42", False),
        (lesson("The net?", "It is called casaRoja."), "The net?", "It is Casaroja.", False),
        (lesson("Her number?", "It is 600 123 456."), "Her number?", "It is 600 123 465.", False),
        (lesson("Who drinks?", "He drinks Coca-Cola."), "Who drinks?", "coca-cola", True),
        (lesson("Is it red?", "It is red."), "Is it red?", "Yes, it is red.", True),
        (lesson("Is it so?", "No."), "Is it so?", "Yes", False),
    ],
)
def test_what_a_lesson_teaches_is_what_neither_question_nor_mistake_said(
    taught: Lesson, asked: str, answer: str, holds: bool
) -> None:
    assert by_lesson(taught, asked, 0.6).holds(answer) is holds


def test_a_code_that_may_still_get_longer_is_not_said_yet() -> None:
    grounding = by_lesson(lesson("Which bus?", "The 14."), "Which bus?", 0.6)
    assert [grounding.holds(answer, ended=False) for answer in ("Bus 14", "Bus 140", "Bus 14 ")] == [False, False, True]
