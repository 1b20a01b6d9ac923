"""Whether a loss is a spike: far above what the last ones were, or no number at all."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from statistics import median

from configs.pretraining.plan import SpikePlan


class Losses:
    """The last losses, and how often the run has gone back for one that was none of them."""

    def __init__(self, plan: SpikePlan) -> None:
        self._plan = plan
        self._last: deque[float] = deque(maxlen=plan.window)
        self.times = 0

    @property
    def usual(self) -> float | None:
        """The median of the last ones; None before there are enough."""
        return median(self._last) if len(self._last) == self._plan.window else None

    def is_spike(self, loss: float) -> bool:
        """Whether a step with this loss must not be taken."""
        usual = self.usual
        return not math.isfinite(loss) or (usual is not None and loss > self._plan.factor * usual)

    def add(self, loss: float) -> None:
        """The loss of a step that was taken."""
        self._last.append(loss)

    @property
    def spent(self) -> bool:
        """Whether the run has gone back as often as it may."""
        return self.times >= self._plan.most

    def notes(self) -> dict[str, object]:
        """For a checkpoint, as JSON, which keeps every bit of a number."""
        return {"last": list(self._last), "times": self.times}

    def take_up(self, last: Sequence[float], times: int) -> None:
        """Go on from such notes."""
        self._last = deque(last, maxlen=self._plan.window)
        self.times = times
