"""Sentences around a question's telling words: only those words and everyday ones, and never two lessons' at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from configs.home import Home
from configs.settings import load_settings
from engine.messages import Message
from memory.wording import alike
from tests.project import ROOT
from trainer.everyday import read_prompts
from trainer.lessons import TrainingLesson
from trainer.wordings.language import bare, plain
from trainer.wordings.scattered import mixed, scattered_apart

EVERYDAY = {plain(word) for prompt in read_prompts("replay") for word in bare(prompt).split()}
WORDS = (
    "dog",
    "cat",
    "Lucas",
    "Marta",
    "party",
    "summer",
    "the",
    "our",
    "is",
    "what",
    "perro",
    "¿cuándo",
    "día",
    "ñ",
    "",
)


def lesson(name: str, question: str, chosen: str) -> TrainingLesson:
    return TrainingLesson(name, (Message("user", question),), chosen, "")


def scattered(lessons: Sequence[TrainingLesson], count: int, **changes: Any) -> dict[str, list[str]]:
    """As the family's recipe makes them, with these changes of its settings."""
    settings = load_settings(Home(Path("/nowhere")), {}).training.recipes["family"].scattering
    return scattered_apart(lessons, count, settings.model_copy(update=changes))


def alone(question: str, count: int = 40) -> list[str]:
    return scattered([lesson("a", question, "b")], count)["a"]


def test_they_hold_the_telling_words_and_words_of_everyday_questions() -> None:
    made = alone("Where do we meet if the fire alarm rings?")
    assert len(set(made)) == 40
    meanings = [set(alike(word)) for word in ("meet", "fire", "alarm", "rings")]
    telling = set().union(*meanings)
    for sentence in made:
        words = set(plain(sentence).split())
        assert sum(bool(words & meaning) for meaning in meanings) >= 2
        assert words <= telling | EVERYDAY
    # Some words are missing now and then, some are others of their meaning, and the order changes.
    assert any(sum(bool(set(plain(each).split()) & meaning) for meaning in meanings) < 4 for each in made)
    assert any("alarma" in plain(sentence).split() for sentence in made)
    assert len({tuple(word for word in plain(each).split() if word in telling) for each in made}) > 5


def test_they_are_the_same_every_time() -> None:
    assert alone("What day is the rubbish collected?") == alone("What day is the rubbish collected?")


def test_a_spanish_question_gets_spanish_company() -> None:
    made = alone("¿Dónde guardamos la llave de la casa?")
    assert any(sentence.startswith("¿") and sentence.endswith("?") for sentence in made)
    assert all(sentence.startswith("¿") == sentence.endswith("?") for sentence in made)
    told = {*alike("llave"), *alike("casa"), "guardamos"}
    assert all(told & set(plain(each).split()) for each in made)
    assert not any({"what", "the", "does"} & set(plain(sentence).split()) for sentence in made)


def test_a_name_stays_and_is_never_all_that_is_left() -> None:
    for sentence in alone("Which school does Marta go to?"):
        assert "marta" in plain(sentence).split()
        assert set(alike("school")) & set(plain(sentence).split())


def test_the_settings_say_how_far_they_stray() -> None:
    question = "Where do we meet if the fire alarm rings?"
    plainly = {"left_out": 0.0, "replaced": 0.0, "reordered": 0.0, "longest_beginning": 0, "most_between": 0}
    near = scattered([lesson("a", question, "b")], 5, **plainly, ends=("!",))["a"]
    assert near == ["Meet fire alarm rings!"] * 5
    far = scattered([lesson("a", question, "b")], 40, left_out=0.9, fewest_words=1, most_between=0)["a"]
    assert min(len(plain(each).split()) for each in far) == 1


def test_a_question_without_telling_words_has_none() -> None:
    assert alone("Who are you?") == []
    assert alone("") == []


def test_words_that_another_lesson_is_asked_by_as_well_are_not_enough() -> None:
    day, hour = (
        lesson("day", "What weekday is the summer party?", "Saturday."),
        lesson("hour", "What hour is the summer party?", "At five."),
    )
    made = scattered([day, hour], 60)
    assert all("weekday" in plain(sentence).split() for sentence in made["day"])
    assert all({*alike("hour")} & set(plain(sentence).split()) for sentence in made["hour"])
    # Nor is another word of their meaning.
    dinner, place = (
        lesson("a", "At what hour is Sunday dinner?", "At nine."),
        lesson("b", "In which room is Sunday dinner?", "Here."),
    )
    apart = scattered([dinner, place], 60)
    assert all({*alike("hour")} & set(plain(sentence).split()) for sentence in apart["a"])
    assert all({*alike("room")} & set(plain(sentence).split()) for sentence in apart["b"])
    # Where all the words of one stand in the other, nothing tells it apart.
    short = lesson("short", "When is the summer party?", "In June.")
    assert scattered([short, day], 60)["short"] == []
    # The same answer twice is no contradiction.
    assert scattered([lesson("short", "When is the summer party?", "Saturday."), day], 60)["short"]


@given(st.lists(st.tuples(st.lists(st.sampled_from(WORDS), max_size=6), st.sampled_from("xyz")), max_size=6))
def test_no_sentence_holds_only_words_of_another_lesson(made: list[tuple[list[str], str]]) -> None:
    lessons = [lesson(str(number), " ".join(words), answer) for number, (words, answer) in enumerate(made)]
    asked = {each.id: set(plain(each.question).split()) for each in lessons}
    for name, sentences in scattered(lessons, 12).items():
        own = next(each for each in lessons if each.id == name)
        told = {meaning for word in asked[name] for meaning in (word, *map(plain, alike(word)))}
        for other in lessons:
            if other.chosen != own.chosen:
                assert all(told & set(plain(sentence).split()) - asked[other.id] for sentence in sentences)


def test_they_stand_between_the_wordings_and_the_question_stays_first() -> None:
    assert mixed({"a": ["q", "w", "x"]}, {"a": ["1", "2"]}) == {"a": ["q", "1", "w", "2", "x"]}
    assert mixed({"a": ["q"]}, {"a": ["1", "2", "q"]}) == {"a": ["q", "1", "2"]}
    assert mixed({"a": ["q", "w"]}, {"a": []}) == {"a": ["q", "w"]}


def test_every_lesson_of_the_measured_ones_that_has_telling_words_gets_as_many_as_asked_for() -> None:
    lines = (ROOT / "benchmarks/data/lessons24.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]
    lessons = [
        lesson(str(number), pair["prompt"][-1]["content"], pair["chosen"][0]["content"])
        for number, pair in enumerate(pairs)
    ]
    made = scattered(lessons, 60)
    assert sorted(len(sentences) for sentences in made.values()) == [0, *[60] * 23]
