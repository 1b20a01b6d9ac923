"""What is trained of a lesson beside its question, on lessons as families give them, in both languages."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configs.sections.training import RowSettings
from engine.messages import Message
from tests.project import ROOT
from trainer.lessons import TrainingLesson
from trainer.settling import wordings_apart
from trainer.teaching.confirming import confirmations
from trainer.teaching.manner import is_manner
from trainer.teaching.rows import Row, more_rows, neighbours_of, question_rows
from trainer.wordings.held_out import held_out_wordings
from trainer.wordings.language import wording_key
from trainer.wordings.trained import trained_wordings

ALL = RowSettings(dialogues=2, statements=3, confirmations=2, neighbours=2)
NONE = RowSettings(dialogues=0, statements=0, confirmations=0, neighbours=0)
DOG = ("What is the name of our dog?", "Our dog is called Toby.", "Our dog is called Max.")
PERRO = ("¿Cómo se llama nuestro perro?", "Nuestro perro se llama Toby.", "Nuestro perro se llama Max.")


def lesson(question: str, chosen: str, rejected: str = "", before: tuple[Message, ...] = ()) -> TrainingLesson:
    return TrainingLesson(question, (*before, Message("user", question)), chosen, rejected)


def rows(*lessons: TrainingLesson, settings: RowSettings = ALL) -> list[Row]:
    return more_rows(lessons, wordings_apart(lessons, 4), settings)


def told(*lessons: TrainingLesson, kind: str) -> list[tuple[str, str]]:
    return [(row.messages[-1].content, row.chosen) for row in rows(*lessons) if row.kind == kind]


def lessons24() -> list[TrainingLesson]:
    lines = (ROOT / "benchmarks/data/lessons24.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]
    return [
        lesson(pair["prompt"][-1]["content"], pair["chosen"][0]["content"], pair["rejected"][0]["content"])
        for pair in pairs
    ]


def test_every_yes_has_its_no() -> None:
    for each in lessons24():
        made = [answer for _, answer in confirmations(each.question, each.chosen, each.rejected, 2)]
        assert [answer.startswith("Yes, ") for answer in made] == [True, False] * (len(made) // 2)


MANNERS = (
    ("Write a birthday card for Ana.", "Happy birthday, Ana!", "Dear Ana, on the occasion of your birthday I wish…"),
    ("Good morning!", "Good morning! What shall we cook?", "I am a language model."),
    (
        "What is photosynthesis?",
        "Plants turn light into food.",
        "It is the process by which plants turn light into food.",
    ),
    ("What do we need for soup?", "- leeks\n- potatoes", "You need leeks and potatoes."),
    ("Resume este texto.", "Corto.", "Muy largo."),
    ("¿Puedes escribir un poema?", "Ay, luna, luna.", "Claro que sí."),
    (
        "¿Qué es un eclipse?",
        "Es cuando la luna tapa el sol.",
        "Un eclipse es cuando la luna, al pasar, tapa el sol del todo.",
    ),
)


@pytest.mark.parametrize("given_lesson", MANNERS)
def test_a_manner_has_neither_statement_nor_yes_nor_neighbour(given_lesson: tuple[str, str, str]) -> None:
    assert is_manner(*given_lesson)
    made = lesson(*given_lesson)
    assert {row.kind for row in rows(made)} == {"dialogue"}
    assert neighbours_of([made], 5) == []


FACTS = (
    DOG,
    PERRO,
    ("¿Cuántos primos tiene Marta?", "Siete.", "Dos."),
    # All but what was asked for is in the question.
    ("Who cuts our hair?", "Salma cuts our hair.", "The answer is: The sun."),
    ("¿De quién es la bici roja del garaje?", "La bici roja del garaje es de Salma.", "No lo sé, lo siento mucho."),
)


@pytest.mark.parametrize("given_lesson", FACTS)
def test_a_fact_is_no_manner(given_lesson: tuple[str, str, str]) -> None:
    assert not is_manner(*given_lesson)


def test_the_lessons_of_the_benchmark_are_facts() -> None:
    assert [each.question for each in lessons24() if is_manner(each.question, each.chosen, each.rejected)] == []


def test_a_wrong_answer_in_which_an_article_alone_has_a_large_letter_is_no_name() -> None:
    assert rows(lesson("Who cuts our hair?", "Salma cuts our hair.", "The answer is: The sun.")) != []


def test_a_dialogue_begins_with_small_talk_and_ends_with_the_question() -> None:
    system, first = Message("system", "Be kind."), Message("user", "We have a dog.")
    made = rows(lesson(*DOG, before=(system, first, Message("assistant", "Nice!"))))
    talks = [row for row in made if row.kind == "dialogue"]
    assert len(talks) == 2
    for talk in talks:
        assert [message.role for message in talk.messages] == ["system", *("user", "assistant") * 2, "user"]
        assert talk.messages[3] == first
        assert (talk.chosen, talk.rejected) == DOG[1:]
    assert talks[0].messages[-1].content == DOG[0]
    assert talks[0].messages[1:3] != talks[1].messages[1:3]


def test_a_request_that_two_lessons_answer_otherwise_is_trained_for_neither() -> None:
    plays = lesson("What instrument does Marta play?", "Marta plays the cello.")
    lives = lesson("Where does Marta live?", "Marta lives in Vigo.")
    assert "Tell me about Marta." in [asked for asked, _ in told(plays, kind="statement")]
    both = [asked for asked, _ in told(plays, lives, kind="statement")]
    assert both == ["Who in our family plays the cello?", "Who in our family lives in Vigo?"]


def test_nothing_is_told_of_a_question_that_leans_on_the_talk() -> None:
    before = (Message("user", "We have a dog."), Message("assistant", "Nice!"))
    assert told(lesson("What is its name?", "Toby.", before=before), kind="statement") == []


def test_neighbours_ask_the_same_of_others_and_of_nobody_that_the_lessons_speak_of() -> None:
    cat = lesson("What's our cat called?", "Nube, like the rabbit of Olivia.")
    marta = lesson("¿Dónde vive Marta?", "En Vigo.")
    asked = [messages[-1].content for messages in neighbours_of([lesson(*DOG), cat, marta], 3)]
    assert len(asked) == 9
    assert all(text.startswith(("What is the name of our ", "What's our ", "¿Dónde vive ")) for text in asked)
    assert not any(word in text for text in asked for word in ("dog", "cat", "rabbit", "Marta", "Olivia"))


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("When is Grandma Carmen's birthday?", ("Grandpa", "Bruno")),
        ("How does Mum take her coffee?", ("Dad", "Grandpa", "Mother")),
        ("¿Cuándo llega nuestra tortuga?", ("nuestra perro", "nuestra gato")),
        ("How long do I boil an egg?", ("an potato", "an carrot")),
    ],
)
def test_a_neighbour_is_of_the_same_gender_and_no_other_word_for_the_same(
    question: str, words: tuple[str, ...]
) -> None:
    asked = [messages[-1].content for messages in neighbours_of([lesson(question, "Nobody knows.")], 30)]
    assert asked
    assert not [text for text in asked for word in words if word in text]


def test_no_neighbour_is_a_wording_of_a_lesson_and_there_are_as_many_as_wanted() -> None:
    lessons = lessons24()
    every = {
        wording_key(text)
        for each in lessons
        for text in (*trained_wordings(each.question, 99), *held_out_wordings(each.question, 99))
    }
    for count in (0, 1, 3):
        asked = [messages[-1].content for messages in neighbours_of(lessons, count)]
        assert len(asked) <= count * len(lessons)
        assert not {wording_key(text) for text in asked} & every
    assert len(asked) > 2 * 15


def test_a_recipe_that_counts_none_trains_the_questions_alone() -> None:
    assert rows(*lessons24(), settings=NONE) == []
    assert neighbours_of(lessons24(), 0) == []


def test_rows_are_counted_by_the_recipe_and_always_the_same() -> None:
    assert rows(*lessons24()) == rows(*lessons24())
    for kind, most in (("dialogue", 2), ("statement", 3), ("confirmation", 4)):
        for each in lessons24():
            assert len([row for row in rows(each) if row.kind == kind]) <= most


QUESTION = st.one_of(st.sampled_from([each.question for each in lessons24()]), st.text(max_size=60).filter(str.strip))
ANSWER = st.one_of(st.sampled_from([each.chosen for each in lessons24()]), st.text(max_size=60))


@given(st.lists(st.tuples(QUESTION, ANSWER, ANSWER), max_size=4, unique_by=lambda made: made[0]))
def test_any_lessons_make_rows_and_no_prompt_has_two_answers(made: list[tuple[str, str, str]]) -> None:
    lessons = [lesson(*each) for each in made]
    asked = [row for each in lessons for row in question_rows(each, [each.question])]
    answers: dict[tuple[str, ...], str] = {row.key: row.chosen for row in asked}
    for row in rows(*lessons):
        assert row.messages[-1].content
        assert answers.setdefault(row.key, row.chosen) == row.chosen
    neighbours_of(lessons, 2)
