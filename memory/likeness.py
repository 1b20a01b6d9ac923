"""How alike two questions are, and a question and a fact: by their terms, weighed, without a model.

Two questions are alike by what they have in common, weighed, against what each has alone (Tversky, "Features of
similarity", 1977). A question that names another thing than the lesson does (the cat, not the dog) is less like it
than one that only says more or less. What people tell before they ask ("I'm ill, which …?") counts less, and a word
that is listed beside one of the other question's, or that the lesson's answer holds, names no other thing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from configs.sections.recall import RecallSettings
from memory.wording import Wordings

Terms = frozenset[str]


@dataclass(frozen=True)
class Asked:
    """A question: all its ``terms``, and those that are ``told`` alone: before or after what is asked."""

    terms: Terms
    told: Terms = frozenset()


@dataclass(frozen=True)
class Conflict:
    """How much two questions ask for different things (when, not where), and speak of different things: 0 to 1 each."""

    asks: float
    things: float


class Likeness:
    """Judges by the word lists and the settings. Every likeness is from 0 to 1."""

    def __init__(self, wordings: Wordings, settings: RecallSettings) -> None:
        self._wordings = wordings
        self._settings = settings

    def of_questions(self, asked: Asked, held: Terms, answer: Terms, weights: Mapping[str, float]) -> float:
        """Likeness of what is asked and a lesson.

        ``held``, ``answer``: the terms of its question and of its answer. ``weights``: what each term asked weighs.
        """
        settings = self._settings
        both = asked.terms & held
        common = sum(weights[term] for term in both)
        only_asked, only_held, close = self._paired(asked.terms - held, held - asked.terms)
        common += settings.near_credit * sum(min(weights[one], self._wordings.weight(other)) for one, other in close)
        here, there = self._alone(asked, held, answer, only_asked, only_held)
        alone = settings.asked_alone * sum(weights[term] * here[term] for term in here)
        alone += settings.held_alone * sum(self._wordings.weight(term) for term in there)
        # Both name a thing, or both ask for something, that the other does not: probably two different questions.
        conflict = sum(min(self._told_by(kind, here), self._told_by(kind, there)) for kind in (True, False))
        alike = common / (common + alone or 1) * math.pow(settings.conflict_factor, min(conflict, 1.0))
        return alike * settings.person_factor if self._wordings.other_person(asked.terms, held) else alike

    def conflict(self, asked: Asked, held: Terms, answer: Terms) -> Conflict:
        """In what a question and a lesson's differ, each by words that the other explains in no way."""
        only_asked, only_held, _ = self._paired(asked.terms - held, held - asked.terms)
        here, there = self._alone(asked, held, answer, only_asked, only_held)
        asks, things = (min(self._told_by(kind, here), self._told_by(kind, there)) for kind in (True, False))
        return Conflict(min(1.0, asks / self._settings.generic_weight), min(1.0, things))

    def of_fact(self, asked: Terms, held: Terms, weights: Mapping[str, float]) -> float:
        """How much of what is asked a fact of the terms ``held`` is about."""
        common = sum(weights[term] for term in asked & held)
        alone = sum(weights[term] for term in asked - held if term not in self._wordings.asking)
        alike = common / (common + alone or 1)
        return alike * self._settings.person_factor if self._wordings.other_person(asked, held) else alike

    def _alone(
        self, asked: Asked, held: Terms, answer: Terms, only_asked: Terms, only_held: Terms
    ) -> tuple[dict[str, float], dict[str, float]]:
        """What each of the two questions holds that the other explains in no way, and for how much it counts."""
        unexplained = self._unexplained(only_asked - answer, held)
        here = {term: self._settings.told_alone if term in asked.told else 1.0 for term in unexplained}
        return here, dict.fromkeys(self._unexplained(only_held, asked.terms), 1.0)

    def _paired(self, asked: Terms, held: Terms) -> tuple[Terms, Terms, list[tuple[str, str]]]:
        """What is left of two sets of terms when those that may mean the same are taken out as pairs."""
        close: list[tuple[str, str]] = []
        left = set(held)
        for term in sorted(asked):
            if partners := sorted(self._wordings.near(term) & left):
                close.append((term, partners[0]))
                left.discard(partners[0])
        return asked - {one for one, _ in close}, frozenset(left), close

    def _unexplained(self, terms: Terms, other: Terms) -> Terms:
        """Those that are near no thing of the ``other`` question's; what is asked (when, where) no thing explains."""
        things = {term for term in other if not self._wordings.is_generic(term)}
        asking = self._wordings.asking
        return frozenset(term for term in terms if term in asking or not self._wordings.near(term) & things)

    def _told_by(self, generic: bool, counted: Mapping[str, float]) -> float:
        """What the terms that say what is asked of a thing weigh together, or else the things; weak ones aside."""
        terms = [t for t in counted if self._wordings.is_generic(t) == generic and not self._wordings.is_weak(t)]
        return sum(self._wordings.weight(term) * counted[term] for term in terms)
