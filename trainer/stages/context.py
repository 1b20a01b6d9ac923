"""What every stage is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainer.courtesy import Courtesy
from trainer.run_files import Inputs, RunFiles

Emit = Callable[[str, float, Mapping[str, Any]], None]


@dataclass
class StageContext:
    """``emit(kind, share, facts)``: an event, ``share`` of the stage done. ``report``: what it says when it ends."""

    files: RunFiles
    inputs: Inputs
    emit: Emit
    pause: Courtesy
    report: dict[str, Any] = field(default_factory=dict)
