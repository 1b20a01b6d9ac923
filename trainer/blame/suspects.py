"""The lessons of a held run, the likeliest culprit first, by what that run measured anyway."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from configs.sections.judging import GateSettings
from memory.matching import says_the_same
from memory.suspects import Suspect
from trainer.lessons import TrainingLesson
from trainer.settling import ASKING, VERBS
from trainer.wordings.language import plain
from trainer.wordings.trained import SMALL_WORDS

# Checks of what was learned: those that count answers. The others measure what became of the rest of the model.
LEARNED = ("lessons_right", "held_out_right", "lessons_kept")


class Suspects:
    """What a held run measured of its ``lessons`` (oldest first), as the reasons of its verdict make it suspicious.

    ``answers`` are those of ``measures.json``, ``losses`` the training's ``lesson_losses``; ``alike``: the share of
    their questions' words that two lessons have in common when one is held against the other.
    """

    def __init__(
        self,
        lessons: Sequence[TrainingLesson],
        answers: Sequence[Mapping[str, Any]],
        losses: Iterable[Mapping[str, Any]],
        reasons: Collection[str],
        alike: float,
    ) -> None:
        self._answers = answers
        measured = {answer["lesson"] for answer in answers}
        self._lessons = [lesson for lesson in lessons if lesson.id in measured]
        self._against = _contradictions(self._lessons, alike)
        by_lesson = {each["lesson"]: each for each in losses}
        found = [self._suspect(lesson, by_lesson.get(lesson.id, {})) for lesson in self._lessons]
        self._reasons = {name: self._suspicion(name) for name in reasons}
        places: dict[str, int] = dict.fromkeys((each.lesson for each in found), 0)
        # Several reasons: the places that a lesson has by each of them are added (Borda's count).
        for suspicion in self._reasons.values():
            order = sorted(found, key=suspicion, reverse=True)
            for place, each in enumerate(order):
                places[each.lesson] += place
        self.ranked: tuple[Suspect, ...] = tuple(sorted(found, key=lambda each: places[each.lesson]))

    def enough(self, bounds: GateSettings) -> int:
        """How many of the first ones have to go for the counted checks to be kept, if all other answers stay as they
        are; 1 where what failed counts no answers, or no number up to half of them is enough.
        """
        counted = {name: getattr(bounds, name) for name in self._reasons if name in LEARNED}
        for number in range(1, -(-len(self.ranked) // 2) + 1):
            gone = {each.lesson for each in self.ranked[:number]}
            if all(self._share(name, gone) >= bound for name, bound in counted.items()):
                return number
        return 1

    def _share(self, name: str, gone: set[str]) -> float:
        """The share that the check ``name`` measures, without the lessons ``gone``."""
        freed = {self._against[lesson] for lesson in gone if lesson in self._against}
        left = [answer for answer in self._answers if answer["lesson"] not in gone and _counts(name, answer)]
        # Who was contradicted by one that is gone is taken to be right then.
        right = [answer for answer in left if answer["after_right"] or answer["lesson"] in freed]
        return len(right) / len(left) if left else 1.0

    def _suspect(self, lesson: TrainingLesson, loss: Mapping[str, Any]) -> Suspect:
        own = [answer for answer in self._answers if answer["lesson"] == lesson.id]
        wrong = [answer for answer in own if not answer["after_right"]]
        return Suspect(
            lesson.id,
            wrong=any(not answer["held_out"] for answer in wrong),
            missed=sum(answer["held_out"] for answer in wrong),
            asked=sum(answer["held_out"] for answer in own),
            lost=sum(answer["before_right"] for answer in wrong),
            nats=loss.get("nats"),
            share=loss.get("share"),
            against=self._against.get(lesson.id, ""),
        )

    def _suspicion(self, name: str) -> Any:
        """A key by which the likeliest cause of a check's failing is the greatest."""
        if name not in LEARNED:
            return lambda each: each.share or 0.0
        missed: dict[str, int] = {}
        for answer in self._answers:
            if _counts(name, answer) and not answer["after_right"]:
                missed[answer["lesson"]] = missed.get(answer["lesson"], 0) + 1
        age = {lesson.id: len(self._lessons) - place for place, lesson in enumerate(self._lessons)}

        def suspicion(each: Suspect) -> tuple[float, ...]:
            # Of two that contradict each other either may be the one that is answered wrong; the later one counts.
            both = missed.get(each.lesson, 0) + missed.get(each.against, 0)
            return (both, age[each.lesson] if each.against else 0, each.nats or 0.0)

        return suspicion


def _counts(name: str, answer: Mapping[str, Any]) -> bool:
    """Whether the check ``name`` counts this answer."""
    if name == "lessons_kept":
        return bool(answer["before_right"])
    return bool(answer["held_out"]) is (name == "held_out_right")


def _contradictions(lessons: Sequence[TrainingLesson], alike: float) -> dict[str, str]:
    """By lesson, the one of nearly the same question that answers it in another way, where there is one."""
    words = {lesson.id: set(plain(lesson.question).split()) - SMALL_WORDS - VERBS - ASKING for lesson in lessons}
    found: dict[str, tuple[float, str]] = {}
    for place, one in enumerate(lessons):
        for other in lessons[place + 1 :]:
            every = words[one.id] | words[other.id]
            common = len(words[one.id] & words[other.id]) / len(every) if every else 0.0
            if common < alike or says_the_same(other.chosen, question=one.question, chosen=one.chosen):
                continue
            for each, against in ((one, other), (other, one)):
                if common > found.get(each.id, (0.0, ""))[0]:
                    found[each.id] = (common, against.id)
    return {lesson: against for lesson, (_, against) in found.items()}
