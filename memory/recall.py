"""Which lessons and facts come to mind at a question: in milliseconds, by its words, and by what it means.

How alike two questions are by their words is in ``memory/likeness.py``; what they mean is compared where vectors can be
made (``memory/meaning/``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from configs.sections.recall import RecallSettings
from memory.candidates import Candidate, Candidates, Place, fused
from memory.errors import MemberUnknown
from memory.facts import Fact, facts_at
from memory.in_force import lessons_asked, lessons_at
from memory.learned import Learned
from memory.lessons import Lesson
from memory.likeness import Asked, Likeness, Terms
from memory.matching import says_the_same, told_by_names
from memory.meaning.meant import Meant, said
from memory.members import Member
from memory.text import storable
from memory.visibility import Visibility
from memory.wording import Wordings, question_key

if TYPE_CHECKING:
    from memory.meaning.meaning import Meaning, Vector


@dataclass(frozen=True)
class RecalledLesson:
    """``score``: likeness of the lesson's question and the one asked, 0 to 1.

    ``learned``: whether the weights that answer now have answered it right without being reminded, in the language in
    which it is asked.
    """

    lesson: Lesson
    score: float
    learned: bool = False


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
class _Question:
    text: str
    asked: Asked
    language: str
    vector: Vector | None


@dataclass(frozen=True)
class _Found:
    same: bool  # the very question that was asked
    words: float
    meant: float
    score: float
    spoken: bool  # in the language of the question
    lesson: Lesson
    terms: Terms
    language: str


class Recall:
    """What one member may be reminded of: what is in their own file and what the household shares.

    Of what waits for whoever administers, only what they have shared themselves.
    """

    def __init__(
        self,
        own: Place,
        family: Place,
        member: Member,
        wordings: Wordings,
        meaning: Meaning | None,
        learned: Mapping[Visibility, Learned],
        settings: RecallSettings,
    ) -> None:
        self._member = member
        self._places: dict[Visibility, Place] = {"private": own, "shared": family}
        self._wordings = wordings
        self._learned = learned
        self._settings = settings
        self._likeness = Likeness(wordings, settings)
        self._meant = Meant(settings.meaning)
        self._candidates = Candidates(self._places, wordings, meaning, settings)

    def find(self, question: str, member: Member) -> Recalled:
        """What is like ``question``, above the thresholds of the settings; nothing, for most questions.

        ``member``: who asks. Raises MemberUnknown if this is the memory of somebody else.
        """
        if member.id != self._member.id:
            raise MemberUnknown(name=member.name)
        text = storable(question)
        asked = Asked(self._wordings.terms(text), self._wordings.told(text))
        vector = self._candidates.vector(text) if asked.terms else None
        looked_for = _Question(text, asked, self._wordings.language(text), vector)
        return Recalled(self._lessons(looked_for), self._facts(looked_for))

    def _lessons(self, question: _Question) -> tuple[RecalledLesson, ...]:
        key = question_key(question.text)
        candidates = self._candidates.of("lesson", question.asked.terms, question.vector)
        found: list[_Found] = []
        for visibility, place in self._places.items():
            here = {
                each.item: each for each in candidates if each.visibility == visibility and self._may_be(question, each)
            }
            # A question of small words alone ("Where are we?") has no telling term by which to be found.
            same = set(lessons_asked(place.index, key))
            for item, lesson in lessons_at(place.index, visibility, {*here, *same}, self._member.id):
                if item in here or len(lesson.messages) == 1:  # "Why?" asks another thing in each conversation
                    found.append(self._compared(question, lesson, here.get(item), same=item in same))
        order = self._order(found)
        above = [each for each in found if each.score > 0]
        above.sort(key=lambda each: (order[each.lesson.id], each.spoken, each.lesson.created_at, each.lesson.id))
        best = list(_latest_wordings(reversed(above)))[: self._settings.most_lessons]
        known = {visibility: learned.now() for visibility, learned in self._learned.items()} if best else {}
        return tuple(
            RecalledLesson(each.lesson, each.score, each.spoken and each.lesson.id in known[each.lesson.visibility])
            for each in best
        )

    def _may_be(self, question: _Question, candidate: Candidate) -> bool:
        """Whether a lesson could be alike enough, whatever its answer says: only then it is worth reading."""
        if candidate.likenesses:
            return True
        asked = question.asked
        best = self._likeness.of_questions(asked, candidate.terms, asked.terms, candidate.weights)
        return best >= self._settings.lesson_threshold

    def _compared(self, question: _Question, lesson: Lesson, candidate: Candidate | None, *, same: bool) -> _Found:
        settings = self._settings
        language = self._wordings.language(lesson.question)
        words, meant = 1.0, 0.0
        if candidate is not None:
            answer = self._wordings.terms(lesson.chosen)
            words = self._likeness.of_questions(question.asked, candidate.terms, answer, candidate.weights)
            if language and question.language and language != question.language:
                words *= settings.other_language
            if candidate.likenesses:
                conflict = self._likeness.conflict(question.asked, candidate.terms, answer)
                asked, held = said(question.text), said(lesson.question)
                meant = self._meant.lesson(asked, held, words, candidate.likenesses, conflict)
        score = 1.0 if same else words if words >= settings.lesson_threshold else 0.0
        if not score and meant >= settings.meaning.lesson_threshold:
            score = min(meant, settings.meaning.most_sure)
        terms = candidate.terms if candidate is not None else question.asked.terms
        return _Found(same, words, meant, score, language == question.language, lesson, terms, language)

    def _order(self, found: Iterable[_Found]) -> dict[str, tuple[bool, float]]:
        """By lesson: the same question comes first, then what is most alike in words and in meaning together."""
        legs = [{each.lesson.id: each.words for each in found}, {each.lesson.id: each.meant for each in found}]
        sums = fused(legs, self._settings.meaning.fuse_after)
        return {each.lesson.id: (each.same, sums[each.lesson.id]) for each in found}

    def _facts(self, question: _Question) -> tuple[RecalledFact, ...]:
        settings = self._settings
        candidates = self._candidates.of("fact", question.asked.terms, question.vector)
        found: list[tuple[Fact, float, float, float]] = []
        for visibility, place in self._places.items():
            here = {each.item: each for each in candidates if each.visibility == visibility}
            scores: dict[int, tuple[float, float, float]] = {}
            for item, each in here.items():
                words = self._likeness.of_fact(question.asked.terms, each.terms, each.weights)
                meant = self._meant.fact(words, each.likenesses) if each.likenesses else 0.0
                if words >= settings.fact_threshold or meant >= settings.meaning.fact_threshold:
                    scores[item] = words, meant, words if words >= settings.fact_threshold else meant
            found += [(fact, *scores[item]) for item, fact in facts_at(place.index, visibility, scores)]
        legs = [{fact.id: words for fact, words, *_ in found}, {fact.id: meant for fact, _, meant, _ in found}]
        order = fused(legs, settings.meaning.fuse_after)
        scored = {fact.id: RecalledFact(fact, score) for fact, _, _, score in found}
        best = sorted(scored.values(), key=lambda each: (order[each.fact.id], each.fact.id), reverse=True)
        return tuple(best[: settings.most_facts])


def _latest_wordings(found: Iterable[_Found]) -> Iterable[_Found]:
    """The entries, the best first, without those that another correction of the same question has replaced."""
    entries = list(found)
    seen: set[tuple[Terms, str]] = set()
    for entry in entries:
        about = entry.terms, entry.language
        if about in seen:
            continue
        seen.add(about)
        # The same words in another order ("Does Leo like Ana?") are the same question, but to the very question.
        same = [each for each in entries if (each.terms, each.language) == about]
        latest = max(same, key=lambda each: (each.same, each.lesson.created_at, each.lesson.id))
        if not any(_replaces(other, latest) for other in entries):
            yield latest


def _replaces(later: _Found, entry: _Found) -> bool:
    """Whether the same was asked later in the other language, and answered with another name or number."""
    question, chosen = entry.lesson.question, entry.lesson.chosen
    return (
        later.lesson.created_at > entry.lesson.created_at
        and later.terms == entry.terms
        and later.language != entry.language
        and told_by_names(chosen, question)
        and not says_the_same(later.lesson.chosen, question=question, chosen=chosen)
    )
