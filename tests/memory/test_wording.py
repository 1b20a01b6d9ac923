"""Words of one meaning, in either language."""

from __future__ import annotations

import pytest

from configs.home import Home
from configs.settings import load_settings
from memory.wording import Wordings, alike, asks_the_same, read_lexicon


@pytest.fixture
def wordings(home: Home) -> Wordings:
    return Wordings(load_settings(home, {}).memory.recall)


def test_a_word_stands_for_all_that_are_listed_as_the_same_thing() -> None:
    assert {"rubbish", "trash", "basura"} <= set(alike("Rubbish"))
    assert alike("niña") == alike("children")


def test_what_is_said_of_any_thing_or_is_not_listed_stands_for_itself() -> None:
    for word in ("name", "day", "our", "Marta", "Lucas", "nispero", "take", ""):
        assert alike(word) == (word,)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("I'm ill, which doctor should I call?", {"ill"}),
        ("Nos vamos de viaje, ¿en qué cajón están los pasaportes?", {"viaj"}),
        ("¿Dónde están los pasaportes? Mañana hay viaje.", {"morning", "viaj"}),
        ("Marta's cousins, how many cousins are they?", {"mart"}),
        ("Which valve holds 1.5 bar?", set()),
        ("The dog, our dog.", set()),
        ("Dog?", set()),
        ("", set()),
    ],
)
def test_what_no_question_mark_ends_is_told_where_one_ends_something_else(
    wordings: Wordings, question: str, told: set[str]
) -> None:
    assert {term for term in wordings.told(question) if not wordings.is_weak(term)} == told


def test_a_word_is_near_those_of_its_own_lines_whatever_their_ending_and_not_near_itself(wordings: Wordings) -> None:
    (fish,), (shop,) = wordings.terms("pescado"), wordings.terms("pescaderías")
    assert fish in wordings.near(shop)
    assert all(term not in wordings.near(term) for term in read_lexicon().near)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("What is the name of our dog?", "¿Cómo se llama nuestro perro?", True),
        ("Where do we keep the spare key?", "In which place is the spare key?", True),
        ("What time is dinner?", "¿A qué hora es la cena?", True),
        ("What is our dog called?", "What is the dog called?", True),
        ("What is the name of our dog?", "What is the name of your dog?", False),
        ("When is the party?", "Where is the party?", False),
        ("Where is the spare key?", "Where is the key?", False),
        ("Is it?", "Was it?", False),
    ],
)
def test_whether_two_questions_ask_for_the_same_of_the_same(one: str, other: str, same: bool) -> None:
    assert asks_the_same(one, other) is asks_the_same(other, one) is same


def test_a_spanish_word_is_not_taken_for_the_english_one_that_it_looks_like(wordings: Wordings) -> None:
    assert wordings.terms("¿En qué calle vivimos?") == wordings.terms("In which street do we live?") - {"ours"}
    assert "network" in wordings.terms("¿Cuál es la clave de la red?")
    assert "network" not in wordings.terms("Where is the red blanket?")


def test_a_name_is_not_taken_for_the_day_or_the_month_that_begins_like_it(wordings: Wordings) -> None:
    for name, day in (("Marta", "martes"), ("Julia", "julio")):
        assert not wordings.terms(name) & wordings.terms(day)
    assert wordings.terms("los martes") == wordings.terms("on Tuesdays")
    assert alike("martes") == alike("Tuesday")


def test_a_plural_of_a_short_word_is_that_word(wordings: Wordings) -> None:
    assert wordings.terms("Granny's eyes") == wordings.terms("Granny's eye")
