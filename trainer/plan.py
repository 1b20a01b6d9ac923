"""The stages of a run in their order, and how much of a run's time each is reckoned to take."""

from __future__ import annotations

from trainer.pipeline.usual import USUAL

STAGES = tuple(USUAL)
# What several processes may carry together.
SHARED_OUT = ("train",)
# Shares of a run of two dozen lessons, for the progress bar alone.
ENDS = {"prepare": 0.1, "train": 0.75, "export": 0.8, "evaluate": 0.98}


def share_of_run(stage: str, share: float) -> float | None:
    """How much of the run is done when ``share`` of ``stage`` is; None for a stage that not every run has."""
    if stage not in STAGES:
        return None
    place = STAGES.index(stage)
    start = ENDS[STAGES[place - 1]] if place else 0.0
    return start + (ENDS[stage] - start) * min(1.0, max(0.0, share))
