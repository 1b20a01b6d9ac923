"""The fewest lessons without which a gate passes, with few trainings: a minimal set over a monotone predicate.

Prefixes of the ranked lessons are tried in sizes that double and are then halved (progression: Marques-Silva, Janota,
Belov, Minimal Sets over Monotone Predicates in Boolean Formulae, CAV 2013), so a culprit that ranks first takes one
training, and one of n at any place about 2 log n. Where leaving out more can make a gate fail again the set may not be
the smallest one; what is returned was in any case tried and passed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Passes = Callable[[frozenset[str]], bool]


class OutOfTime(Exception):
    """Raised by ``passes`` where there is no time for another training."""


@dataclass(frozen=True)
class Finding:
    """``lessons``: without all of them the gate passed; empty: no such set was found.

    ``complete``: the search came to its end, so none of them can stay; or else there was no time to see.
    """

    lessons: tuple[str, ...]
    complete: bool


def fewest(ranked: Sequence[str], first: int, passes: Passes) -> Finding:
    """Search among ``ranked``, the likeliest first; the ``first`` ones are tried at the beginning.

    ``passes`` says whether the gate passes without these lessons, and is asked about half of them, or the other half,
    at most: where more than that would have to go, it is not for single lessons. With none left out it does not pass.
    """
    found: tuple[str, ...] = ()

    def tried(without: Sequence[str]) -> bool:
        nonlocal found
        passed = passes(frozenset(without))
        if passed and (not found or len(without) < len(found)):
            found = tuple(without)
        return passed

    try:
        pool, low = _group(ranked, first, tried)
        # What the group leaves open is halved; afterwards the likeliest ones are worth trying first again.
        step = len(pool)
        needed: list[str] = []
        while pool:
            # Without needed and pool it passes; without needed and the first low of pool it does not.
            last = _shortest(needed, pool, low, step, tried)
            needed.append(pool[last - 1])
            pool, low, step = pool[: last - 1], 0, 1
            if pool and tried(needed):
                pool = []
        return Finding(tuple(needed), complete=True)
    except OutOfTime:
        return Finding(found, complete=False)


def _group(ranked: Sequence[str], first: int, tried: Callable[[Sequence[str]], bool]) -> tuple[Sequence[str], int]:
    """Lessons without which it passes, none where there are no such, and how many of them are known not to suffice."""
    half = -(-len(ranked) // 2)
    low, size = 0, min(first, half)
    while low < half:
        if tried(ranked[:size]):
            return ranked[:size], low
        low, size = size, min(2 * size, half)
    others = ranked[half:]
    return (others, 0) if others and tried(others) else ([], 0)


def _shortest(
    needed: list[str], pool: Sequence[str], low: int, step: int, tried: Callable[[Sequence[str]], bool]
) -> int:
    """The length of the shortest beginning of ``pool`` that suffices beside ``needed``; all of it does, ``low`` does
    not. The first ``step`` beyond it are tried first, or half of those left, if that is less.
    """
    high = len(pool)
    while high - low > 1:
        middle = low + min(step, (high - low) // 2)
        if tried([*needed, *pool[:middle]]):
            high, step = middle, len(pool)
        else:
            low, step = middle, 2 * step
    return high
