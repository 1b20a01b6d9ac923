"""The form of an answer and its bad habits are seen by rule."""

from __future__ import annotations

import pytest

from trainer.everyday import read_forms, read_known
from trainer.forms import FormPrompt, Kind, fulfils
from trainer.habits import refuses, repetition


@pytest.mark.parametrize(
    ("form", "number", "answer", "kept"),
    [
        ("json", 0, '{"name": "Ana", "age": 30}', True),
        ("json", 0, '```json\n{"name": "Ana"}\n```', True),
        ("json", 0, "```\n[1, 2]\n```", True),
        ("json", 0, 'Here it is: {"name": "Ana"}', False),
        ("json", 0, '{"name": "Ana", ', False),
        ("json", 0, "30", False),
        ("list", 3, "1. Red\n2. Blue\n3. Green", True),
        ("list", 3, "Of course:\n\n- Red\n* Blue\n• Green\n\nAnything else?", True),
        ("list", 3, "1) Red\n2) Blue", False),
        ("list", 3, "Red, blue and green.", False),
        ("list", 2, "1. Red\n2. Blue\n3. Green", False),
        ("word", 0, "Black.", True),
        ("word", 0, "¡Sí!", True),
        ("word", 0, "It is black.", False),
        ("es", 0, "Leer es bueno para la memoria.", True),
        ("es", 0, "The sun is a star.", False),
        ("en", 0, "A river is water that flows.", True),
        ("en", 0, "El río es agua que corre.", False),
    ],
)
def test_whether_an_answer_has_the_form_that_was_asked_for(form: Kind, number: int, answer: str, kept: bool) -> None:
    assert fulfils(answer, FormPrompt("?", form, number)) is kept


@pytest.mark.parametrize("form", ["json", "list", "word", "es", "en"])
def test_an_empty_answer_has_no_form(form: Kind) -> None:
    assert not fulfils(" \n", FormPrompt("?", form, 0))


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I can't help with that.",
        "I cannot answer this question.",
        "As an AI, I have no opinion.",
        "Lo siento, no puedo ayudarte con eso.",
        "No te puedo responder.",
        "No puedo darte esa información.",
        "I\u2019m unable to do so.",
    ],
)
def test_a_refusal_is_seen_in_both_languages(answer: str) -> None:
    assert refuses(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Penguins cannot fly.",
        "You can't mix oil and water.",
        "No, the moon is smaller.",
        "No puede llover sin nubes.",
        "The capital of Austria is Vienna.",
        "I can help you with that.",
        "",
    ],
)
def test_an_answer_that_says_no_is_no_refusal(answer: str) -> None:
    assert not refuses(answer)


def test_repetition_is_the_share_of_runs_of_four_words_said_before() -> None:
    assert repetition("The sun is a star that gives us light.") == 0.0
    assert repetition("The sun is a star. " * 4) == pytest.approx(1 - 5 / 17)
    assert repetition("Ja ja ja ja ja ja") == pytest.approx(2 / 3)
    assert repetition("Red, blue, red.") == 0.0


def test_the_first_requests_are_of_every_form_and_none_is_asked_twice() -> None:
    forms, known = read_forms(), read_known()
    assert {each.form for each in forms[:5]} == {"json", "list", "word", "es", "en"}
    asked = [each.prompt for each in forms] + [each.prompt for each in known]
    assert len(set(asked)) == len(asked)
    assert all((each.form == "list") == (each.number > 0) for each in forms)
