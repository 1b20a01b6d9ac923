"""Contradictions and duplicates are settled before training: the latest answer of a question counts, and says so."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configs.home import Home
from engine.messages import Message
from memory.household import Household
from memory.lessons import Lesson
from tests.project import ROOT
from tests.trainer.household import default_recipe, small_settings, teach
from trainer.admission import sorted_out
from trainer.beginning import begin
from trainer.lessons import TrainingLesson
from trainer.run_files import RunFiles, read_inputs
from trainer.settling import leans, settled, wordings_apart
from trainer.wordings.language import wording_key
from trainer.wordings.trained import trained_wordings

RECIPE = default_recipe()
CHAT = (("user", "We have a dog, Toby."), ("assistant", "How nice!"))
OTHER_CHAT = (("user", "We have a cat, Nube."), ("assistant", "How nice!"))


def lesson(name: str, question: str, chosen: str, rejected: str = "", before: Sequence[tuple[str, str]] = ()) -> Lesson:
    turns = [{"role": role, "content": content} for role, content in (*before, ("user", question))]
    return Lesson(name, "m", "shared", "edit", tuple(turns), chosen, rejected, None, 0.0)


def outcome(*lessons: Lesson) -> tuple[list[str], list[tuple[str, str, str]]]:
    kept, dropped = sorted_out(lessons, RECIPE)
    return [each.id for each in kept], [(each.id, each.reason, each.by) for each in dropped]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("What is the name of our dog?", "what is the name of our DOG"),
        ("What is the name of our dog?", "What's our dog called?"),
        ("What's our dog called?", "Hi! What is the name of our dog?"),
        ("What is the wifi password?", "Tell me the wifi password."),
        ("What is the wifi password?", "the wifi password?"),
        ("Which bus goes to the centre?", "What bus goes to the centre?"),
        ("What is Dad's favourite dish?", "Please, what is the favourite dish of Dad?"),
        ("¿Cómo se llama nuestro perro?", "como se llama nuestro perro"),
        ("¿Cómo se llama nuestro perro?", "¿Cuál es el nombre de nuestro perro?"),
        ("¿Cuál es la contraseña del wifi?", "Dime la contraseña del wifi."),
        ("¿Cuántos primos tiene Marta?", "Oye, ¿sabes cuántos primos tiene Marta?"),
    ],
)
def test_a_question_corrected_two_ways_counts_as_it_was_corrected_last(first: str, second: str) -> None:
    for one, other in ((first, second), (second, first)):
        a, b = lesson("a", one, "Toby."), lesson("b", other, "Rex.")
        assert outcome(a, b) == (["b"], [("a", "replaced", "b")])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("What is the name of our dog?", "What is the name of our cat?"),
        ("What is the name of our dog?", "What is the name of your dog?"),
        ("Who is the doctor?", "Where is the doctor?"),
        ("What day is the party?", "What time is the party?"),
        ("What day is the party?", "When is the party?"),
        ("Where is the car?", "Where do we keep the car?"),
        ("What is C++?", "What is C?"),
        ("When is Marta's birthday?", "When is Lucas's birthday?"),
        ("¿A qué hora es la fiesta?", "¿Qué día es la fiesta?"),
        ("¿Dónde vive Marta?", "¿Dónde vive Lucas?"),
        ("🐶", "🐱"),
    ],
)
def test_questions_that_only_look_alike_are_both_kept(first: str, second: str) -> None:
    assert outcome(lesson("a", first, "One."), lesson("b", second, "Other.")) == (["a", "b"], [])


def test_the_same_taught_twice_is_one_lesson() -> None:
    first, second = lesson("a", "Who is Toby?", "Our dog."), lesson("b", "who is toby", " Our  dog.")
    assert outcome(first, second) == (["b"], [("a", "repeated", "b")])


def test_nothing_of_a_replaced_lesson_is_trained_that_may_be_withdrawn_later() -> None:
    kept, _ = sorted_out(
        [lesson("a", "Who is Toby?", "A cat.", "A car."), lesson("b", "Who is Toby?", "Our dog.")], RECIPE
    )
    assert [(each.chosen, each.rejected) for each in kept] == [("Our dog.", "")]


def test_of_many_corrections_of_one_question_each_earlier_one_names_the_last() -> None:
    many = [lesson(str(number), "Who is Toby?", f"Answer {number}.") for number in range(6)]
    kept, dropped = outcome(*many)
    assert kept == ["5"]
    assert dropped == [(str(number), "replaced", "5") for number in range(5)]


def test_a_question_that_leans_on_the_talk_is_another_one_in_another_talk() -> None:
    dog, cat = (
        lesson("a", "How old is it?", "Five.", before=CHAT),
        lesson("b", "How old is it?", "Two.", before=OTHER_CHAT),
    )
    assert outcome(dog, cat) == (["a", "b"], [])
    again = lesson("c", "how old is it", "Six.", before=(("system", "Be kind."), *CHAT))
    assert outcome(dog, cat, again) == (["b", "c"], [("a", "replaced", "c")])


def test_a_question_that_stands_alone_is_the_same_in_any_talk() -> None:
    first, later = (
        lesson("a", "How old is our dog?", "Five."),
        lesson("b", "How old is our dog?", "Six.", before=OTHER_CHAT),
    )
    assert outcome(first, later) == (["b"], [("a", "replaced", "b")])


LEANING: tuple[str, ...] = (
    "And on Sundays?",
    "How old is he?",
    "What is its name?",
    "What time?",
    "Which school?",
    "¿Y el gato?",
)
LEANING += ("¿Dónde vive?", "¿Cuántos años tiene?", "¿De qué color es?", "¿Cuál es su nombre?", "")
STANDING: tuple[str, ...] = (
    "What time is dinner?",
    "Where does Uncle Andrés live?",
    "wifi password",
    "What's our dog called?",
)
STANDING += ("¿Dónde vive Marta?", "¿Cuál es la contraseña?", "¿A qué hora cenamos?", "¿Cómo se llama nuestro perro?")


@pytest.mark.parametrize(("question", "expected"), [*((q, True) for q in LEANING), *((q, False) for q in STANDING)])
def test_what_is_understood_only_with_the_talk_before_it(question: str, expected: bool) -> None:
    assert leans(question) is expected


def trained(name: str, question: str, chosen: str) -> TrainingLesson:
    return TrainingLesson(name, (Message("user", question),), chosen, "")


def test_a_wording_that_two_lessons_answer_otherwise_is_trained_for_neither() -> None:
    day, hour = (
        trained("day", "What day is the party?", "Saturday."),
        trained("hour", "What time is the party?", "At five."),
    )
    apart = wordings_apart([day, hour], 10)
    shared = {wording_key("When is the party?"), wording_key("party")}
    for each in (day, hour):
        assert apart[each.id][0] == each.question
        assert len(apart[each.id]) == 10
        assert not {wording_key(wording) for wording in apart[each.id]} & shared


def test_a_lessons_own_question_stays_where_it_is_a_wording_of_another() -> None:
    short, long = trained("short", "wifi password", "tejo-3"), trained("long", "What is the wifi password?", "roble-9")
    apart = wordings_apart([short, long], 10)
    assert "wifi password" in apart["short"]
    assert "wifi password" not in apart["long"]


def test_lessons_that_share_no_wording_keep_the_wordings_they_have_alone() -> None:
    lines = (ROOT / "benchmarks/data/lessons24.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]
    lessons = [
        trained(str(number), pair["prompt"][-1]["content"], pair["chosen"][0]["content"])
        for number, pair in enumerate(pairs)
    ]
    assert settled(lessons) == (lessons, [])
    apart = wordings_apart(lessons, 10)
    assert [apart[each.id] for each in lessons] == [trained_wordings(each.question, 10) for each in lessons]


@given(st.lists(st.tuples(st.sampled_from(LEANING + STANDING), st.sampled_from("xyz")), max_size=12))
def test_nothing_is_lost_and_settling_twice_changes_nothing(made: list[tuple[str, str]]) -> None:
    lessons = [trained(str(number), question, chosen) for number, (question, chosen) in enumerate(made)]
    kept, dropped = settled(lessons)
    assert sorted([each.id for each in kept] + [each.id for each in dropped]) == sorted(each.id for each in lessons)
    assert {each.by for each in dropped} <= {each.id for each in kept}
    assert settled(kept) == (kept, [])


def test_a_run_begins_with_what_counts_names_the_rest_and_leaves_none_of_it_waiting(home: Home) -> None:
    settings = small_settings(home)
    teach(home, settings, [("What's our dog called?", "Max.", "Rex."), ("What is the name of our dog?", "Toby.", "")])
    with Household.open(home, settings.memory) as household:
        run = household.runs.create("lessons")
        files = RunFiles(home.runs / run.id)
        inputs = begin(home, settings, household, run.id, "family", files)
        assert [(each.chosen, each.rejected) for each in inputs.lessons] == [("Toby.", "")]
        assert [(each.reason, each.by) for each in inputs.dropped] == [("replaced", inputs.lessons[0].id)]
        assert read_inputs(files) == inputs
        assert household.runs.lessons(run.id) == {inputs.lessons[0].id, inputs.dropped[0].id}
