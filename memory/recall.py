"""Which lessons and facts come to mind at a question: lexical, without a model, in milliseconds.

Words that many lessons hold weigh less. How alike two questions are is in ``memory/likeness.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from configs.sections.memory import RecallSettings
from memory.errors import MemberUnknown
from memory.facts import Fact, facts_at
from memory.in_force import lessons_asked, lessons_at
from memory.lessons import Lesson
from memory.likeness import Asked, Likeness, Terms
from memory.members import Member
from memory.recall_index import Counts, Kind, RecallIndex
from memory.text import storable
from memory.visibility import Visibility
from memory.wording import Wordings, question_key


@dataclass(frozen=True)
class RecalledLesson:
    """``score``: likeness of the lesson's question and the one asked, 0 to 1."""

    lesson: Lesson
    score: float


@dataclass(frozen=True)
class RecalledFact:
    """``score``: how much of the question the fact is about, 0 to 1."""

    fact: Fact
    score: float


@dataclass(frozen=True)
class Recalled:
    """The best first."""

    lessons: tuple[RecalledLesson, ...]
    facts: tuple[RecalledFact, ...]


@dataclass(frozen=True)
class _Likely:
    visibility: Visibility
    item: int
    terms: Terms
    weights: dict[str, float]


@dataclass(frozen=True)
class _Found:
    same: bool  # the very question that was asked
    score: float
    spoken: bool  # in the language of the question
    lesson: Lesson
    about: tuple[Terms, str]  # and in which language

    def rank(self) -> tuple[bool, float, bool, float, str]:
        return self.same, self.score, self.spoken, self.lesson.created_at, self.lesson.id


class Recall:
    """What one member may be reminded of: what is in their own file and what the household shares.

    Of what waits for whoever administers, only what they have shared themselves.
    """

    def __init__(
        self, own: RecallIndex, family: RecallIndex, member: Member, wordings: Wordings, settings: RecallSettings
    ) -> None:
        self._member = member
        self._indexes: dict[Visibility, RecallIndex] = {"private": own, "shared": family}
        self._wordings = wordings
        self._settings = settings
        self._likeness = Likeness(wordings, settings)

    def find(self, question: str, member: Member) -> Recalled:
        """What is like ``question``, above the thresholds of the settings; nothing, for most questions.

        ``member``: who asks. Raises MemberUnknown if this is the memory of somebody else.
        """
        if member.id != self._member.id:
            raise MemberUnknown(name=member.name)
        question = storable(question)
        asked = Asked(self._wordings.terms(question), self._wordings.told(question))
        return Recalled(self._lessons(question, asked), self._facts(asked.terms))

    def _lessons(self, question: str, asked: Asked) -> tuple[RecalledLesson, ...]:
        key, language = question_key(question), self._wordings.language(question)
        likely = self._likely("lesson", asked.terms)
        found: list[_Found] = []
        for visibility, index in self._indexes.items():
            near = [entry for entry in likely if entry.visibility == visibility and self._may_be(asked, entry)]
            here = {entry.item: entry for entry in near}
            # A question of small words alone ("Where are we?") has no telling term by which to be found.
            same = set(lessons_asked(index, key))
            for item, lesson in lessons_at(index, visibility, {*here, *same}, self._member.id):
                if item not in here and len(lesson.messages) > 1:
                    # "Why?" asks another thing in each conversation.
                    continue
                spoken = self._wordings.language(lesson.question)
                other = bool(spoken and language and spoken != language)
                score = 1.0 if item in same else self._alike(asked, here[item], lesson, other_language=other)
                if score >= self._settings.lesson_threshold:
                    held = here[item].terms if item in here else asked.terms
                    found.append(_Found(item in same, score, spoken == language, lesson, (held, spoken)))
        # The same question comes first, then the most alike; of equals, the latest correction in the same language.
        found.sort(key=_Found.rank, reverse=True)
        best = _latest_wordings(found)
        return tuple(RecalledLesson(entry.lesson, entry.score) for entry in best)[: self._settings.most_lessons]

    def _may_be(self, asked: Asked, likely: _Likely) -> bool:
        """Whether a lesson could be alike enough, whatever its answer says: only then it is worth reading."""
        best = self._likeness.of_questions(asked, likely.terms, asked.terms, likely.weights)
        return best >= self._settings.lesson_threshold

    def _alike(self, asked: Asked, likely: _Likely, lesson: Lesson, *, other_language: bool) -> float:
        answer = self._wordings.terms(lesson.chosen)
        alike = self._likeness.of_questions(asked, likely.terms, answer, likely.weights)
        return alike * self._settings.other_language if other_language else alike

    def _facts(self, asked: Terms) -> tuple[RecalledFact, ...]:
        likely = self._likely("fact", asked)
        found: dict[str, RecalledFact] = {}
        for visibility, index in self._indexes.items():
            here = [entry for entry in likely if entry.visibility == visibility]
            scores = {entry.item: self._likeness.of_fact(asked, entry.terms, entry.weights) for entry in here}
            above = {item: score for item, score in scores.items() if score >= self._settings.fact_threshold}
            for item, fact in facts_at(index, visibility, above):
                found[fact.id] = RecalledFact(fact, scores[item])
        best = sorted(found.values(), key=lambda entry: (entry.score, entry.fact.id), reverse=True)
        return tuple(best[: self._settings.most_facts])

    def _likely(self, kind: Kind, asked: Terms) -> list[_Likely]:
        """What shares a telling term with ``asked``; nothing, where all its terms are weak ones."""
        telling = {term for term in asked if not self._wordings.is_weak(term)}
        result = []
        for visibility, index in self._indexes.items():
            counts = index.counts(kind, telling)
            if not counts.of:
                continue
            weights = self._weights(asked, counts)
            wanted = {term: weights[term] for term in telling if term in counts.of}
            for item, terms in index.candidates(kind, wanted, self._settings.candidates).items():
                result.append(_Likely(visibility, item, terms, weights))
        return result

    def _weights(self, asked: Terms, counts: Counts) -> dict[str, float]:
        """What each term of the question weighs: less, the more of the items there hold it."""
        everything = math.log(self._settings.rarity_prior + counts.items)
        return {
            term: self._wordings.weight(term) * (1 - math.log(max(1, counts.of.get(term, 0))) / everything)
            for term in asked
        }


def _latest_wordings(found: Iterable[_Found]) -> Iterable[_Found]:
    """The entries, without those that are about the same as one before them, which corrected them later."""
    seen: set[tuple[Terms, str]] = set()
    for entry in found:
        if entry.about not in seen:
            seen.add(entry.about)
            yield entry
