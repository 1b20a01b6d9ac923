"""Which lessons and facts come to mind at a question: lexical, without a model, in milliseconds.

Two questions are alike by what they have in common, weighed, against what each has alone (Tversky, "Features of
similarity", 1977). Words that many lessons hold weigh less. A question that names another thing than the
lesson does (the cat, not the dog) is less like it than one that only says more or less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from configs.sections.memory import RecallSettings
from memory.errors import MemberUnknown
from memory.facts import Fact, facts_at
from memory.lessons import Lesson, lessons_at
from memory.members import Member
from memory.recall_index import Counts, Kind, RecallIndex
from memory.text import storable
from memory.visibility import Visibility
from memory.wording import Wordings, question_key

Terms = frozenset[str]


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
    score: float


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
    """What one member may be reminded of: what is in their own file and what the household shares."""

    def __init__(
        self, own: RecallIndex, family: RecallIndex, member: Member, wordings: Wordings, settings: RecallSettings
    ) -> None:
        self._member = member
        self._indexes: dict[Visibility, RecallIndex] = {"private": own, "shared": family}
        self._wordings = wordings
        self._settings = settings

    def find(self, question: str, member: Member) -> Recalled:
        """What is like ``question``, above the thresholds of the settings; nothing, for most questions.

        ``member``: who asks. Raises MemberUnknown if this is the memory of somebody else.
        """
        if member.id != self._member.id:
            raise MemberUnknown(name=member.name)
        terms = self._wordings.terms(storable(question))
        if all(self._wordings.is_weak(term) for term in terms):
            return Recalled((), ())
        return Recalled(self._lessons(storable(question), terms), self._facts(terms))

    def _lessons(self, question: str, asked: Terms) -> tuple[RecalledLesson, ...]:
        key, language = question_key(question), self._wordings.language(question)
        likely = self._likely("lesson", asked, self._question_likeness, self._settings.lesson_threshold)
        found: list[_Found] = []
        for visibility, index in self._indexes.items():
            here = {entry.item: entry for entry in likely if entry.visibility == visibility}
            for item, lesson in lessons_at(index, visibility, here):
                same = question_key(lesson.question) == key
                spoken = self._wordings.language(lesson.question)
                score = 1.0 if same else here[item].score
                found.append(_Found(same, score, spoken == language, lesson, (here[item].terms, spoken)))
        # The same question comes first, then the most alike; of equals, the latest correction in the same language.
        found.sort(key=_Found.rank, reverse=True)
        best = _latest_wordings(found)
        return tuple(RecalledLesson(entry.lesson, entry.score) for entry in best)[: self._settings.most_lessons]

    def _facts(self, asked: Terms) -> tuple[RecalledFact, ...]:
        likely = self._likely("fact", asked, self._answer_likeness, self._settings.fact_threshold)
        found: dict[str, RecalledFact] = {}
        for visibility, index in self._indexes.items():
            scores = {entry.item: entry.score for entry in likely if entry.visibility == visibility}
            for item, fact in facts_at(index, visibility, scores):
                found[fact.id] = RecalledFact(fact, scores[item])
        best = sorted(found.values(), key=lambda entry: (entry.score, entry.fact.id), reverse=True)
        return tuple(best[: self._settings.most_facts])

    def _likely(
        self, kind: Kind, asked: Terms, likeness: Callable[[Terms, Terms, Mapping[str, float]], float], least: float
    ) -> list[_Likely]:
        telling = {term for term in asked if not self._wordings.is_weak(term)}
        result = []
        for visibility, index in self._indexes.items():
            counts = index.counts(kind, telling)
            if not counts.of:
                continue
            weights = self._weights(asked, counts)
            wanted = {term: weights[term] for term in telling if term in counts.of}
            for item, terms in index.candidates(kind, wanted, self._settings.candidates).items():
                score = likeness(asked, terms, weights)
                if score >= least:
                    result.append(_Likely(visibility, item, terms, score))
        return result

    def _weights(self, asked: Terms, counts: Counts) -> dict[str, float]:
        """What each term of the question weighs: less, the more of the items there hold it."""
        everything = math.log(self._settings.rarity_prior + counts.items)
        return {
            term: self._wordings.weight(term) * (1 - math.log(max(1, counts.of.get(term, 0))) / everything)
            for term in asked
        }

    def _question_likeness(self, asked: Terms, held: Terms, weights: Mapping[str, float]) -> float:
        settings = self._settings
        common = sum(weights[term] for term in asked & held)
        only_asked, only_held, close = self._paired(asked - held, held - asked)
        common += settings.near_credit * sum(min(weights[one], self._wordings.weight(other)) for one, other in close)
        alone = settings.asked_alone * sum(weights[term] for term in only_asked)
        alone += settings.held_alone * sum(self._wordings.weight(term) for term in only_held)
        # Both name something that the other does not: probably two different things.
        conflict = min(self._telling(only_asked), self._telling(only_held), 1.0)
        alike = common / (common + alone or 1) * math.pow(settings.conflict_factor, conflict)
        return alike * settings.person_factor if self._wordings.other_person(asked, held) else alike

    def _paired(self, asked: Terms, held: Terms) -> tuple[Terms, Terms, list[tuple[str, str]]]:
        """What is left of two sets of terms when those that may mean the same are taken out as pairs."""
        close: list[tuple[str, str]] = []
        left = set(held)
        for term in sorted(asked):
            if partners := sorted(self._wordings.near(term) & left):
                close.append((term, partners[0]))
                left.discard(partners[0])
        return asked - {one for one, _ in close}, frozenset(left), close

    def _answer_likeness(self, asked: Terms, held: Terms, weights: Mapping[str, float]) -> float:
        common = sum(weights[term] for term in asked & held)
        alone = sum(weights[term] for term in asked - held if term not in self._wordings.asking)
        alike = common / (common + alone or 1)
        return alike * self._settings.person_factor if self._wordings.other_person(asked, held) else alike

    def _telling(self, terms: Iterable[str]) -> float:
        return sum(self._wordings.weight(term) for term in terms if not self._wordings.is_weak(term))


def _latest_wordings(found: Iterable[_Found]) -> Iterable[_Found]:
    """The entries, without those that are about the same as one before them, which corrected them later."""
    seen: set[tuple[Terms, str]] = set()
    for entry in found:
        if entry.about not in seen:
            seen.add(entry.about)
            yield entry
