"""What is told of a lesson that may be why a training was held: by the trainer, to whoever shows it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Suspect:
    """``lesson``: its id. ``wrong``: its own question got no right answer; ``missed`` of its ``asked`` other wordings
    got none; ``lost``: how many of both were right before. ``nats`` a token and ``share`` of the loss: as the training
    reported them (None: it reported nothing). ``against``: the other lesson of nearly the same question, if any.
    """

    lesson: str
    wrong: bool
    missed: int
    asked: int
    lost: int
    nats: float | None
    share: float | None
    against: str = ""

    def as_json(self) -> dict[str, Any]:
        """For the run's files and events."""
        return asdict(self)
