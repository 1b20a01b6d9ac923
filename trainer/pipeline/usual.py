"""How a training is done where nothing else is asked for: what each stage takes, from a source or another stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# By the name of a stage: what it takes, each argument from a source or another stage.
Wiring = Mapping[str, Mapping[str, str]]

USUAL: Final[Wiring] = {
    "prepare": {"pairs": "pairs", "base": "base"},
    "train": {"data": "prepare", "base": "base", "begun": "begun"},
    "export": {"adapter": "train", "data": "prepare", "pairs": "pairs", "base": "base"},
    "evaluate": {"candidate": "export", "current": "current", "data": "prepare", "pairs": "pairs", "base": "base"},
}
# Beside them, where several trainings of a run are compared.
SCORE: Final = "score"
SCORED: Final[Wiring] = {SCORE: {"candidate": "export", "data": "prepare", "pairs": "pairs", "base": "base"}}
