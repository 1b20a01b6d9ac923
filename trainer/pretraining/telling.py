"""What a pretraining tells as it goes: a line of JSON each, on stdout and in its folder's log of events."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memory import runlog
from memory.runlog import RunEvent
from trainer.place import Place
from trainer.telling import tell_line

STAGE = "pretrain"


class Teller:
    """Of several processes the first one tells.

    The log of events is what curves are drawn from; where it cannot be written, stdout still says everything, and once
    that the log could not be.
    """

    def __init__(self, folder: Path, place: Place) -> None:
        self._folder = folder
        self._first = place.first
        self._log_failed = False

    def __call__(self, kind: str, fraction: float | None, facts: Mapping[str, Any]) -> None:
        """``kind``: as ``memory.runlog`` lists them; ``fraction``: how much of the run is done, if known."""
        if not self._first:
            return
        tell_line(kind, fraction, facts)
        try:
            runlog.append(self._folder, RunEvent(time.time(), kind, STAGE, fraction, facts))
        except OSError as error:
            if not self._log_failed:
                tell_line("log_failed", None, {"reason": error.strerror or str(error)})
            self._log_failed = True
