"""What of memory stands before the model: a lesson leaves it once the weights know it, and returns if they do not."""

from __future__ import annotations

import pytest

from app.assistant.events import Recalled
from app.assistant.prompting import Material, messages
from app.assistant.reminding import Reminding, remind
from app.catalogue import Catalogue
from configs.settings import Settings
from memory.lessons import Lesson
from memory.recall import RecalledLesson

QUESTION = "What's our dog called?"


@pytest.fixture
def lesson() -> Lesson:
    asked = ({"role": "user", "content": "What is the name of our dog?"},)
    return Lesson("1", "ana", "shared", "edit", asked, "Our dog is called Toby.", "Max.", None, 0.0)


def reminded(lesson: Lesson, score: float, settings: Settings, *, learned: bool) -> Reminding:
    recalled = Recalled((RecalledLesson(lesson, score, learned),), ())
    return remind(Material("", QUESTION), recalled, 0.0, settings.assistant, Catalogue("en"))


def says_it(material: Material) -> bool:
    return any("Toby" in message.content for message in messages(material, "line"))


def test_a_lesson_that_the_weights_do_not_know_is_put_before_the_model(lesson: Lesson, settings: Settings) -> None:
    reminding = reminded(lesson, 1.0, settings, learned=False)
    assert [says_it(material) for _, material in reminding.attempts] == [True, True]
    assert reminding.own_words == lesson.chosen


def test_a_lesson_that_they_know_leaves_the_prompt_and_comes_back_where_they_do_not_say_it(
    lesson: Lesson, settings: Settings
) -> None:
    reminding = reminded(lesson, 1.0, settings, learned=True)
    assert [says_it(material) for _, material in reminding.attempts] == [False, True, True]
    assert reminding.grounded is not None
    assert reminding.grounded.holds("Our dog is called Toby.")
    assert not reminding.grounded.holds("Our dog is called Max.")
    assert reminding.meta["lessons"] == [lesson.id]


def test_one_that_they_know_and_that_is_not_surely_meant_is_left_out(lesson: Lesson, settings: Settings) -> None:
    unsure = settings.assistant.sure_score - 0.1
    assert says_it(reminded(lesson, unsure, settings, learned=False).first)
    left = reminded(lesson, unsure, settings, learned=True)
    assert (says_it(left.first), left.used, left.attempts) == (False, None, ())
