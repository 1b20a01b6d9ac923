"""The wordings of a question: those that train and those that measure never meet."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainer.wordings.held_out import held_out_wordings
from trainer.wordings.language import language_of
from trainer.wordings.trained import trained_wordings

QUESTIONS = (
    "What is the name of our dog?",
    "Where do we keep the spare key?",
    "Who is our family doctor?",
    "What time do we have dinner on Sundays?",
    "How many cousins does Marta have?",
    "Which school does Marta go to?",
    "¿Cómo se llama nuestro perro?",
    "¿Dónde guardamos la llave?",
    "¿A qué hora cenamos los domingos?",
    "¿Cuál es la contraseña del wifi?",
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_asked_in_ten_ways_its_own_first(question: str) -> None:
    ways = trained_wordings(question, 10)
    assert ways[0] == question
    assert len(set(ways)) == 10
    assert trained_wordings(question, 10) == ways


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_measures_is_never_trained(question: str) -> None:
    held_out = held_out_wordings(question, 3)
    assert len(held_out) == 3
    assert not set(held_out) & set(trained_wordings(question, 1000))


def test_a_name_is_also_asked_for_as_what_something_is_called() -> None:
    assert "What is our dog called?" in trained_wordings("What is the name of our dog?", 10)
    assert "¿Cuál es el nombre de nuestro perro?" in trained_wordings("¿Cómo se llama nuestro perro?", 10)


@pytest.mark.parametrize("question", QUESTIONS)
def test_wordings_keep_the_language_of_the_question(question: str) -> None:
    spanish = "¿" in question
    marked = [way for way in trained_wordings(question, 10) if "?" in way]
    assert marked
    assert all(("¿" in way) == spanish for way in marked)
    assert language_of(question) == ("es" if spanish else "en")


@given(st.text(max_size=80), st.integers(1, 14))
def test_any_text_has_at_least_itself_and_never_more_than_asked_for(text: str, count: int) -> None:
    ways = trained_wordings(text, count)
    assert 1 <= len(ways) <= count
    assert len(set(ways)) == len(ways)
    assert not set(held_out_wordings(text, 2)) & set(ways)


@pytest.mark.parametrize(
    ("question", "made", "never"),
    [
        ("What instrument does Lucas play?", "Tell me the instrument that Lucas plays.", ()),
        ("Where does my aunt live?", "Tell me where my aunt lives.", ()),
        ("How does Mum take her coffee?", "Tell me how Mum takes her coffee.", ()),
        ("Which school does Marta go to?", "Marta's school, which one is it?", ("tos", "gos", "goes")),
        ("What time does Dad come home?", "When does Dad come home?", ("homes", "comes", "Dad's")),
        ("Where does Grandma do yoga?", "Can you tell me: where does Grandma do yoga?", ("yogas", "dos")),
        ("How does Dad do the laundry?", "Can you tell me: how does Dad do the laundry?", ("dos", "haves")),
        ("Which dish does Mum wash?", "Mum's dish, which one is it?", ("washs",)),
    ],
)
def test_a_verb_gets_an_ending_only_where_it_is_known_to_be_one(
    question: str, made: str, never: tuple[str, ...]
) -> None:
    ways = trained_wordings(question, 1000)
    assert made in ways
    assert not {word for way in ways for word in re.findall(r"[\w']+", way)} & set(never)
