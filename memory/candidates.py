"""What may come to mind at a question: by its words, by what it means, and both fused by rank.

Nothing is looked for but in the files of whoever asks: what another member keeps to themselves is in none of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from configs.sections.recall import RecallSettings
from memory.likeness import Terms
from memory.meaning.vector_index import Likenesses
from memory.recall_index import Counts, Kind, RecallIndex
from memory.visibility import Visibility
from memory.wording import Wordings

if TYPE_CHECKING:
    from memory.meaning.keeper import VectorKeeper
    from memory.meaning.meaning import Meaning, Vector


@dataclass(frozen=True)
class Candidate:
    """One row of ``lessons`` or ``facts``. ``weights``: what each term of the question weighs in its file.

    ``likenesses``: cosines with its vectors, where it has any and the question has one.
    """

    visibility: Visibility
    item: int
    terms: Terms
    weights: Mapping[str, float]
    likenesses: tuple[float, ...] = ()


@dataclass(frozen=True)
class Place:
    """One file that is looked in. ``keeper``: makes the vectors that it lacks, where vectors can be made."""

    index: RecallIndex
    keeper: VectorKeeper | None


class Candidates:
    """Looks in the files of one member: their own and the family's."""

    def __init__(
        self,
        places: Mapping[Visibility, Place],
        wordings: Wordings,
        meaning: Meaning | None,
        settings: RecallSettings,
    ) -> None:
        self._places = places
        self._wordings = wordings
        self._meaning = meaning
        self._settings = settings

    def vector(self, question: str) -> Vector | None:
        """Of a question; None where there are none to be had. The latest lessons have theirs from then on."""
        if self._meaning is None:
            return None
        vector = self._meaning.question(question)
        if vector is not None:
            for place in self._places.values():
                if place.keeper is not None:
                    place.keeper.keep_up()
        return vector

    def of(self, kind: Kind, asked: Terms, vector: Vector | None) -> list[Candidate]:
        """What shares a telling term with the question, and what is nearest to it in meaning."""
        telling = {term for term in asked if not self._wordings.is_weak(term)}
        found = []
        for visibility, place in self._places.items():
            index = place.index
            postings = index.postings(kind, telling)
            weights = self._weights(asked, postings.counts)
            wanted = {term: weights[term] for term in telling if term in postings.items}
            terms = index.best(kind, postings, wanted, self._settings.candidates) if wanted else {}
            likenesses = self._likenesses(index, kind, terms, vector)
            terms |= index.terms(kind, likenesses.keys() - terms.keys())
            found += [
                Candidate(visibility, item, terms.get(item, frozenset()), weights, likenesses.get(item, ()))
                for item in terms.keys() | likenesses.keys()
            ]
        return found

    def _likenesses(self, index: RecallIndex, kind: Kind, items: Iterable[int], vector: Vector | None) -> Likenesses:
        if vector is None:
            return {}
        near = index.vectors.nearest(kind, vector, self._settings.meaning.candidates)
        return near | index.vectors.at(kind, set(items) - near.keys(), vector)

    def _weights(self, asked: Terms, counts: Counts) -> dict[str, float]:
        """What each term of the question weighs: less, the more of the items there hold it."""
        everything = math.log(self._settings.rarity_prior + counts.items)
        return {
            term: self._wordings.weight(term) * (1 - math.log(max(1, counts.of.get(term, 0))) / everything)
            for term in asked
        }


def fused(legs: Sequence[Mapping[str, float]], after: float) -> dict[str, float]:
    """Each of what was found with the sum of 1 / (``after`` + its place) over the ways in which it was found.

    Each leg: what it found, with a score; equal scores share a place. (Cormack, Clarke and Büttcher, "Reciprocal rank
    fusion outperforms Condorcet and individual rank learning methods", SIGIR 2009.)
    """
    sums: dict[str, float] = {}
    for leg in legs:
        places = {score: place for place, score in enumerate(sorted(set(leg.values()), reverse=True), 1)}
        for name, score in leg.items():
            sums[name] = sums.get(name, 0.0) + 1 / (after + places[score])
    return sums
