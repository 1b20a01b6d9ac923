"""How a probation is put into words: how one stands, and for what a snapshot was gone back from."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from memory.moves import Move
    from memory.probation import Probation


def on_probation(words: Catalogue, standing: Probation) -> str:
    """How many of its answers are through, and what was made of them."""
    return words.text("probation.on", snapshot=standing.snapshot, answers=standing.answers, **asdict(standing.counts))


def gone(words: Catalogue, move: Move) -> str:
    """Why a snapshot was gone back from by itself; ``move`` has the evidence."""
    return words.text("probation.gone", left=move.previous, snapshot=move.snapshot, **(move.evidence or {}))
