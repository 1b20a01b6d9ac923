"""How hard each lesson was to learn, told apart while they are trained together: it costs nothing more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class LessonLosses:
    """By lesson, what its corrections cost in nats: over the whole training, and a token in its last epoch."""

    def __init__(self) -> None:
        self._all: dict[str, float] = {}
        self._epoch: dict[str, list[float]] = {}
        self._last: dict[str, list[float]] = {}

    def add(self, lesson: str, nats: float, tokens: int) -> None:
        """One wording's correction: what all its tokens cost."""
        self._all[lesson] = self._all.get(lesson, 0.0) + nats
        sums = self._epoch.setdefault(lesson, [0.0, 0])
        sums[0] += nats
        sums[1] += tokens

    def end_epoch(self) -> None:
        """What was added since the one before is the last epoch's."""
        if self._epoch:
            self._last, self._epoch = self._epoch, {}

    def notes(self) -> dict[str, Any]:
        """What ``take_up`` needs to know it all again, as JSON."""
        return {"all": self._all, "epoch": self._epoch, "last": self._last}

    def take_up(self, notes: Mapping[str, Any]) -> None:
        """The reverse of ``notes``."""
        self._all = dict(notes["all"])
        self._epoch = {lesson: list(sums) for lesson, sums in notes["epoch"].items()}
        self._last = {lesson: list(sums) for lesson, sums in notes["last"].items()}

    def report(self) -> list[dict[str, Any]]:
        """For each lesson ``nats`` a token in the last epoch, and its ``share`` of all that was lost on corrections.

        A high share is a strong pull on the weights: an answer that is long, that the base finds unlikely, or that
        another lesson contradicts all along.
        """
        total = sum(self._all.values())
        return [
            {"lesson": lesson, "nats": nats / tokens, "share": self._all[lesson] / total if total else 0.0}
            for lesson, (nats, tokens) in self._last.items()
        ]
