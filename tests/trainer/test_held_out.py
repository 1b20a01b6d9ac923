"""What measures whether a lesson can be asked for in other words is never trained: over hundreds of made questions."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from configs.sections.training import RowSettings
from engine.messages import Message
from trainer.lessons import TrainingLesson
from trainer.settling import settled, wordings_apart
from trainer.teaching.rows import Row, more_rows, question_rows, unseen_wordings
from trainer.wordings.held_out import held_out_wordings
from trainer.wordings.language import language_of, wording_key
from trainer.wordings.trained import EVERY, trained_wordings

ALL = RowSettings(dialogues=3, statements=4, confirmations=2, neighbours=2)
ENGLISH_SHAPES = (
    "What is the name of {}?", "What's {} called?", "Where is {}?", "Where do we keep {}?", "Who looks after {}?",
    "When is the party for {}?", "What time do we feed {}?", "What day do we clean {}?", "How old is {}?",
    "How many visits does {} have?", "How do we carry {}?", "Which room is for {}?", "what colour is {}",
    "Tell me about {}.", "Do you remember {}?", "Who is {}?", "How long does {} sleep?", "Hi! Where is {}?",
)  # fmt: skip
ENGLISH_THINGS = (
    "our dog", "the doctor", "Grandma Carmen", "my password", "Marta's school", "the dinner on holiday", "C++",
    "the rubbish", "your favourite surname", "O'Brien", "the 2nd car",
)  # fmt: skip
SPANISH_SHAPES = (
    "¿Cómo se llama {}?", "¿Cuál es el nombre de {}?", "¿Dónde está {}?", "¿Dónde guardamos {}?", "¿Quién cuida a {}?",
    "¿Cuándo es la fiesta de {}?", "¿A qué hora cenamos con {}?", "¿Qué día limpiamos {}?", "¿Cuántos años tiene {}?",
    "¿De qué color es {}?", "¿Cuál es {}?", "Háblame de {}.", "¿Te acuerdas de {}?", "donde vive {}", "¿Quién es {}?",
    "¿Qué sabes de {}?", "Oye, ¿dónde está {}?",
)  # fmt: skip
SPANISH_THINGS = (
    "nuestro perro", "la médica", "la abuela Carmen", "mi contraseña", "el colegio de Marta", "la cena del sábado",
    "el coche favorito", "Íñigo Núñez", "el 2.º ordenador",
)  # fmt: skip
MADE = [shape.format(thing) for shape, thing in product(ENGLISH_SHAPES, ENGLISH_THINGS)]
MADE += [shape.format(thing) for shape, thing in product(SPANISH_SHAPES, SPANISH_THINGS)]


def changed(text: str, how: int) -> str:
    """The same text as people in a hurry, in anger or from elsewhere type it."""
    return (text, text.upper(), text.lower(), text.rstrip("?."), f"  {text}  ", f"«{text}»")[how]


def lessons_of(questions: list[str]) -> list[TrainingLesson]:
    made = [
        TrainingLesson(str(number), (Message("user", question),), f"It is Toby {number}.", "It is Max.")
        for number, question in enumerate(questions)
    ]
    return settled(made)[0]


def rows_of(lessons: list[TrainingLesson], count: int) -> list[Row]:
    wordings = wordings_apart(lessons, count)
    asked = [row for lesson in lessons for row in question_rows(lesson, wordings[lesson.id])]
    return [*asked, *more_rows(lessons, wordings, ALL)]


def test_hundreds_of_questions_in_both_languages_have_wordings_that_are_never_trained() -> None:
    assert len(MADE) > 300
    for question, how in ((question, number % 6) for number, question in enumerate(MADE)):
        asked = changed(question, how)
        trained = {wording_key(text) for text in trained_wordings(asked, EVERY)}
        held_out = held_out_wordings(asked, EVERY)
        assert len(held_out) >= 2, asked
        assert not {wording_key(text) for text in held_out} & trained, asked


def test_what_measures_is_of_the_language_of_the_question() -> None:
    for question in MADE:
        assert {language_of(text) for text in held_out_wordings(question, EVERY)} == {language_of(question)}, question


# Among them are some that are what measures others.
FEW = [MADE[0], MADE[-1], MADE[25], MADE[200]]
FEW += [text for question in FEW for text in held_out_wordings(question, EVERY)]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(MADE) | st.sampled_from(FEW), st.integers(0, 5)), min_size=1, max_size=12),
    st.integers(1, 20),
)
def test_no_row_of_any_kind_of_any_lesson_asks_what_measures_another(made: list[tuple[str, int]], count: int) -> None:
    lessons = lessons_of([changed(*each) for each in made])
    rows = rows_of(lessons, count)
    trained = {row.key for row in rows}
    unseen = unseen_wordings(lessons, rows, 2)
    measured = [row for lesson in lessons for row in question_rows(lesson, unseen[lesson.id])]
    assert not {row.key for row in measured} & trained


def test_a_wording_that_another_lesson_asks_gives_its_place_to_the_next_one() -> None:
    first, second, third = held_out_wordings("Where is the ladder?", 3)
    lessons = lessons_of(["Where is the ladder?", first.upper()])
    assert unseen_wordings(lessons, rows_of(lessons, 4), 2)["0"] == [second, third]
