"""When a training has learned enough: by wordings that it never trains; those that it does get likelier anyway."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import torch

from configs.sections.training import EarlyStopSettings
from trainer.distributed import ALONE, Together
from trainer.model.decoder import Decoder
from trainer.objectives.interface import Example
from trainer.packing import build_pack, in_packs


def set_apart(examples: Sequence[Example], share: float, seed: int) -> tuple[list[Example], list[Example]]:
    """The examples that are trained, and a ``share`` of all that is only watched; ``seed`` draws which.

    The first example of a lesson, its question as it was asked, is always trained.
    """
    seen: set[str] = set()
    others = []
    for place, example in enumerate(examples):
        if example.name in seen:
            others.append(place)
        seen.add(example.name)
    count = min(len(others), round(share * len(examples)))
    watched = set(random.Random(seed).sample(others, count))  # noqa: S311 - not for secrets
    return (
        [example for place, example in enumerate(examples) if place not in watched],
        [examples[place] for place in sorted(watched)],
    )


class EarlyStop:
    """Asked after each epoch. ``losses``: of the watched examples, in nats a token, one an epoch."""

    def __init__(
        self,
        decoder: Decoder,
        watched: Sequence[Example],
        settings: EarlyStopSettings,
        budget: int,
        pause: Callable[[], None],
        together: Together = ALONE,
    ) -> None:
        self._decoder = decoder
        self._items = [example.items[0] for example in watched]
        self._settings = settings
        self._budget = budget
        self._pause = pause
        self._together = together
        self.losses: list[float] = []

    def enough(self) -> bool:
        """Whether the epoch that just ended brought so little that another is not worth its time."""
        if not self._items:
            return False
        self.losses.append(self._loss())
        return len(self.losses) > 1 and self.losses[-2] - self.losses[-1] < self._settings.least_gain

    @torch.no_grad()
    def _loss(self) -> float:
        mine = 0.0
        for group, counts in self._together.mine(in_packs([[item] for item in self._items], self._budget)):
            self._pause()
            pack = build_pack([self._items[place] for place in group])
            found = -float(self._decoder.log_probs(pack).sum())
            mine += found if counts else 0.0
        # One sum for all processes, so that all end after the same epoch.
        return sum(self._together.gathered(mine)) / sum(len(item.answer) for item in self._items)
