"""What a run tells, from look to look; also while it tries other numbers, which it tells of beside its own log."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.catalogue import Catalogue
from memory.runlog import RunEvent, read


class RunLog:
    """The log of the run in ``folder``, and that of the training with other numbers that it has begun last."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._offset = 0
        self._trial: Path | None = None
        self._trial_offset = 0

    def look(self) -> list[RunEvent]:
        """What was told since the last look: by the run, then by the training with other numbers, where one goes on."""
        events, self._offset = read(self._folder, self._offset)
        for event in events:
            self._follow(event)
        if self._trial is None:
            return events
        beside, self._trial_offset = read(self._trial, self._trial_offset)
        return [*events, *beside]

    def _follow(self, event: RunEvent) -> None:
        if event.kind == "choice_started":
            self._trial, self._trial_offset = self._folder / str((event.facts or {})["folder"]), 0
        elif event.kind == "choice_done":
            self._trial = None


def trying(words: Catalogue, numbers: Mapping[str, Any]) -> str:
    """That a training with other ``numbers`` begins, as its event has them."""
    rate = f"{numbers.get('learning_rate', 0):.3g}"
    return words.text("command.train.trying", rate=rate, epochs=numbers.get("epochs"), rank=numbers.get("rank"))
