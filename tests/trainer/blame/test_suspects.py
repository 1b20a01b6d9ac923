"""The likeliest culprit comes first, by what the held run measured and by which checks failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from configs.home import Home
from configs.sections.judging import GateSettings
from configs.settings import load_settings
from engine.messages import Message
from trainer.blame.suspects import Suspects
from trainer.lessons import TrainingLesson

PAIRS = {
    "dog": ("What is the name of our dog?", "Our dog is called Toby."),
    "tea": ("What time do we have dinner?", "We have dinner at seven."),
    "key": ("Where do we keep the spare key?", "It is under the blue flowerpot."),
    "eat": ("When do we have dinner on weekdays?", "We have dinner at nine."),
}
ALIKE = 0.5


def lessons(*names: str) -> list[TrainingLesson]:
    return [TrainingLesson(name, (Message("user", PAIRS[name][0]),), PAIRS[name][1], "") for name in names]


def answers(*, right: Sequence[str], wrong: Sequence[str], missed: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Of each lesson its own question, and one other wording, wrong where ``missed``."""
    found = []
    for lesson in (*right, *wrong):
        for held_out, ok in ((False, lesson in right), (True, lesson not in (*missed, *wrong))):
            found.append({"lesson": lesson, "held_out": held_out, "before_right": False, "after_right": ok})
    return found


def losses(**nats: tuple[float, float]) -> list[dict[str, Any]]:
    return [{"lesson": lesson, "nats": each, "share": share} for lesson, (each, share) in nats.items()]


def order(suspects: Suspects) -> list[str]:
    return [each.lesson for each in suspects.ranked]


def bounds(home: Home) -> GateSettings:
    return load_settings(home, {}).training.gate


def test_where_lessons_are_wrong_the_wrong_ones_come_first_the_harder_one_before() -> None:
    told = answers(right=["dog"], wrong=["tea", "key"])
    hard = losses(dog=(0.9, 0.5), tea=(0.2, 0.2), key=(0.7, 0.3))
    suspects = Suspects(lessons("dog", "tea", "key"), told, hard, ["lessons_right"], ALIKE)
    assert order(suspects) == ["key", "tea", "dog"]
    first = suspects.ranked[0]
    assert (first.wrong, first.missed, first.asked, first.nats) == (True, 1, 1, 0.7)


def test_where_the_rest_of_the_model_broke_the_strongest_pull_comes_first() -> None:
    told = answers(right=["dog", "tea"], wrong=["key"])
    hard = losses(dog=(0.1, 0.2), tea=(0.1, 0.7), key=(0.9, 0.1))
    for reason in ("unrelated_kl", "perplexity_rise_en"):
        assert order(Suspects(lessons("dog", "tea", "key"), told, hard, [reason], ALIKE)) == ["tea", "dog", "key"]


def test_of_two_that_contradict_each_other_the_older_one_comes_first_whichever_is_wrong() -> None:
    for wrong, right in (("tea", "eat"), ("eat", "tea")):
        told = answers(right=["dog", right], wrong=[wrong])
        hard = losses(dog=(0.9, 0.5), tea=(0.3, 0.2), eat=(0.4, 0.3))
        suspects = Suspects(lessons("dog", "tea", "eat"), told, hard, ["lessons_right"], ALIKE)
        assert order(suspects) == ["tea", "eat", "dog"]
        assert [each.against for each in suspects.ranked] == ["eat", "tea", ""]


def test_two_questions_alike_with_the_same_answer_do_not_contradict() -> None:
    same = [*lessons("dog", "tea"), TrainingLesson("too", lessons("eat")[0].messages, "At seven, always.", "")]
    told = answers(right=["dog", "tea", "too"], wrong=[])
    assert {each.against for each in Suspects(same, told, [], ["unrelated_kl"], ALIKE).ranked} == {""}


def test_a_lesson_that_was_not_trained_is_no_suspect() -> None:
    suspects = Suspects(lessons("dog", "key"), answers(right=["dog"], wrong=[]), [], ["unrelated_kl"], ALIKE)
    assert order(suspects) == ["dog"]


def test_as_many_are_reckoned_to_go_as_the_counted_checks_need(home: Home) -> None:
    gate = bounds(home).model_copy(update={"lessons_right": 0.8})
    of_four = lessons("dog", "key", "tea")
    told = answers(right=["dog"], wrong=["key", "tea"])
    assert Suspects(of_four, told, [], ["lessons_right"], ALIKE).enough(gate) == 2
    # What contradicted it is gone: it is taken to be right then.
    torn = answers(right=["dog"], wrong=["tea", "eat"])
    assert Suspects(lessons("dog", "tea", "eat"), torn, [], ["lessons_right"], ALIKE).enough(gate) == 1
    assert Suspects(of_four, told, [], ["unrelated_kl"], ALIKE).enough(gate) == 1
