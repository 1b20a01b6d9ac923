"""Staying the base elsewhere: KL from the base's own distribution on its own answers to everyday prompts."""

from __future__ import annotations

from trainer.objectives.kept import KeptDivergence


class Replay(KeptDivergence):
    """The teacher is the frozen base, asked the same."""

    name = "replay"
