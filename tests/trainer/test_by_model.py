"""Wordings that the base makes: what passes asks for the same of the same, and nothing that only measures passes."""

from __future__ import annotations

import pytest

from engine.messages import Message
from trainer.lessons import TrainingLesson
from trainer.wordings.by_model import Ask, reworded, translated
from trainer.wordings.held_out import held_out_wordings

DOG = "What is the name of our dog?"


def lesson(name: str, question: str, chosen: str) -> TrainingLesson:
    return TrainingLesson(name, (Message("user", question),), chosen, "")


TOBY = lesson("dog", DOG, "Our dog is called Toby.")


def saying(*answers: str) -> Ask:
    """A base that gives these answers in turn, whatever it is asked."""
    return lambda asked: [answers[number % len(answers)] for number, _ in enumerate(asked)]


@pytest.mark.parametrize(
    "said",
    [
        "How do we call our dog?",
        "1. What name did we give our dog?",
        '"Our dog\'s name, please?"',
        "Sure, here it is:\n- Can you tell me our dog's name?",
    ],
)
def test_other_words_for_the_same_are_trained(said: str) -> None:
    (wording,) = reworded([TOBY], 9, saying(said))["dog"]
    assert "dog" in wording
    assert wording[0].isalpha()


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Our dog is called Toby.",
        "What is the name of your dog?",
        "What is the name of our cat?",
        "Where is our dog?",
        "How old is our dog?",
        "Is the name of our dog?",
        "The name that our dog has.",
        "What is not the name of our dog?",
        "What is the name of our dog Rex?",
        "¿Cómo se llama nuestro perro?",
        "The name of our dog, our dog, our dog, our dog, our dog, our dog, our dog?",
        "what is the name of OUR dog?",
        "Tell me the name of our dog?",
        *held_out_wordings(DOG, 99),
    ],
)
def test_what_asks_for_something_else_says_the_answer_or_is_measured_is_not(said: str) -> None:
    assert reworded([TOBY], 9, saying(said))["dog"] == []


def test_how_is_not_answered_by_what() -> None:
    coffee = lesson("coffee", "How does Mum take her coffee?", "Mum takes her coffee with oat milk.")
    assert reworded([coffee], 9, saying("What does Mum take her coffee?"))["coffee"] == []
    assert reworded([coffee], 9, saying("Mum takes her coffee how?"))["coffee"] == ["Mum takes her coffee how?"]


def test_of_two_lessons_that_the_check_cannot_tell_apart_neither_gets_any() -> None:
    day, date = lesson("day", "What day is the party?", "Saturday."), lesson("date", "When is the party?", "At five.")
    assert reworded([day, date], 9, saying("On which day do we have the party?")) == {}
    assert reworded([day], 9, saying("On what day do we have the party?")) != {}


def test_there_are_as_many_as_the_recipe_wants_and_none_is_asked_for_where_it_wants_none() -> None:
    said = saying("How do we call our dog?", "Our dog's name, what is it?", "What name has our dog got?")
    assert len(reworded([TOBY], 2, said)["dog"]) == 2
    assert reworded([TOBY], 0, said) == {}


def test_a_question_is_put_into_the_other_language_where_a_name_tells_the_answer() -> None:
    green = lesson("car", "What colour is our car?", "Our car is green.")
    said = saying("¿Cómo se llama nuestro perro?", "¿De qué color es nuestro coche?")
    assert translated([TOBY, green], said) == {"dog": "¿Cómo se llama nuestro perro?"}
    perro = lesson("perro", "¿Cómo se llama nuestro perro?", "Nuestro perro se llama Toby.")
    assert translated([perro], saying("What is our dog called?")) == {"perro": "What is our dog called?"}


@pytest.mark.parametrize(
    "said", ["", "What is our dog called?", "¿Cómo se llama nuestra gata?", "¿Dónde está el perro?"]
)
def test_what_is_no_translation_is_not_measured(said: str) -> None:
    assert translated([TOBY], saying(said)) == {}
