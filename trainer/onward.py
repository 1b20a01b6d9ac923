"""What a training goes on from: the adapter that answers the family, and which of the lessons it has learned.

From the base again, a night takes the longer the more the family has ever taught. Going on, it trains in full what is
new or was not right, and goes over the rest from time to time (experience replay, arXiv 1811.11682).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Onward:
    """``adapter``: the file; ``snapshot`` and ``run``: what it is of.

    ``row``: how many trainings in a row have gone on by then, this one counted. ``learned``: ids of the lessons that it
    has right.
    """

    adapter: Path
    snapshot: str
    run: str
    row: int
    learned: frozenset[str]

    def as_json(self) -> dict[str, Any]:
        """For the run's files; ``onward_from_json`` reads it back."""
        return {
            "adapter": str(self.adapter),
            "snapshot": self.snapshot,
            "run": self.run,
            "row": self.row,
            "learned": sorted(self.learned),
        }


def onward_from_json(value: Mapping[str, Any]) -> Onward:
    """The reverse of ``Onward.as_json``."""
    adapter, learned = Path(value["adapter"]), frozenset(value["learned"])
    return Onward(adapter, value["snapshot"], value["run"], value["row"], learned)
