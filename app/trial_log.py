"""What a run tells beside its own log while it tries other numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.catalogue import Catalogue
from memory.runlog import RunEvent, read


class TrialLog:
    """The log of the training with other numbers that a run has begun last, which is not the run's own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._trial: Path | None = None
        self._offset = 0

    def take(self, event: RunEvent) -> None:
        """Hear of one that begins or ends in the run's log."""
        if event.kind == "choice_started":
            self._trial, self._offset = self._folder / str((event.facts or {})["folder"]), 0
        elif event.kind == "choice_done":
            self._trial = None

    def look(self) -> list[RunEvent]:
        """What it has told since the last look."""
        if self._trial is None:
            return []
        events, self._offset = read(self._trial, self._offset)
        return events


def trying(words: Catalogue, numbers: Mapping[str, Any]) -> str:
    """That a training with other ``numbers`` begins, as its event has them."""
    rate = f"{numbers.get('learning_rate', 0):.3g}"
    return words.text("command.train.trying", rate=rate, epochs=numbers.get("epochs"), rank=numbers.get("rank"))
