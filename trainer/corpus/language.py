"""Which language a text is in, by how often three letters stand in a row in each (after Cavnar and Trenkle 1994).

``languages.json`` has, for the commonest threes of each language, the logarithm of how likely they are in each, from
help texts of one program in all of them (``scripts/language_profiles.py``), so that languages differ in it and subjects
do not.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

PROFILES: Final = Path(__file__).parent / "languages.json"
SCALE: Final = 10  # the file has tenths
# Text in none of the languages has threes that are rare in all: so much less likely a three on average than usual.
UNLIKE: Final = 1.5
# Neighbouring threes share letters, so that they tell a third of what as many independent ones would.
SHARED: Final = 3
_NO_LETTERS: Final = re.compile(r"[\W\d_]+")
OTHER: Final = "?"


@dataclass(frozen=True)
class Profiles:
    """``likely``: of each three, its logarithm in each language, nats; ``unseen``: of all others; ``usual``: the mean
    over texts of each language.
    """

    languages: tuple[str, ...]
    likely: dict[str, npt.NDArray[np.float64]]
    unseen: npt.NDArray[np.float64]
    usual: npt.NDArray[np.float64]


@cache
def profiles() -> Profiles:
    """Those that Enlace comes with."""
    told = json.loads(PROFILES.read_text(encoding="utf-8"))
    likely = {three: np.array(row) / -SCALE for three, row in told["likely"].items()}
    unseen, usual = (np.array(told[name]) / -SCALE for name in ("unseen", "usual"))
    return Profiles(tuple(told["languages"]), likely, unseen, usual)


def threes_of(text: str) -> Counter[str]:
    """Every three letters in a row, small, with one blank for whatever is between words."""
    plain = f" {_NO_LETTERS.sub(' ', text.lower()).strip()} "
    return Counter(plain[start : start + 3] for start in range(len(plain) - 2))


def probability(text: str, language: str) -> float:
    """How surely ``text`` is in ``language`` (ISO 639), 0 to 1; 0 too where it is in none that is known.

    A language that is not among the known ones cannot be told: then 1.
    """
    known = profiles()
    if language not in known.languages:
        return 1.0
    found = likelihoods(text)
    return float(found[known.languages.index(language)]) if found is not None else 0.0


def language_of(text: str) -> str:
    """The likeliest language, or "?" where it is in none that is known."""
    found = likelihoods(text)
    return OTHER if found is None else profiles().languages[int(found.argmax())]


def likelihoods(text: str) -> npt.NDArray[np.float64] | None:
    """The probability of each known language, which sum to 1; None where the text is in none of them."""
    known = profiles()
    threes = threes_of(text)
    count = sum(threes.values())
    sums = sum((number * known.likely.get(three, known.unseen) for three, number in threes.items()), np.zeros(1))
    if count == 0 or (sums / count - known.usual).max() < -UNLIKE:
        return None
    grown = np.exp((sums - sums.max()) / SHARED)
    return np.asarray(grown / grown.sum())
