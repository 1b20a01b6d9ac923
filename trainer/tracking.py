"""``python -m trainer.tracking RUN_DIR NAME``: a run's curves for trackio, where that is installed. Numbers alone.

trackio keeps them in a folder beside the runs; a dashboard is shown by ``trackio show``. Nothing is sent anywhere: what
its environment may say of a server or a space is not passed on.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from memory.runlog import read
from trainer.helping import help_out

PROJECT: Final = "enlace"
FOLDER: Final = "trackio"
_OTHERS: Final = ("TRACKIO_", "HF_")
# What a step tells that is no curve.
_NO_CURVE: Final = frozenset({"step", "steps"})


def leave_curves(folder: Path, name: str, seconds: float) -> None:
    """Have a process of its own keep the curves of the run in ``folder``, in ``seconds``, where there is trackio."""
    if importlib.util.find_spec("trackio") is None:
        return
    environ = {key: value for key, value in os.environ.items() if not key.startswith(_OTHERS)}
    environ |= {"TRACKIO_DIR": str(folder.parent.parent / FOLDER), "HF_HUB_OFFLINE": "1"}
    # The run's own report has them too.
    help_out("trainer.tracking", (str(folder), name), environ, seconds)


def track(folder: Path, name: str) -> None:
    """Give trackio each step of the training that counts, which is the last one, and what was measured at the end."""
    steps, measures = _told(folder)
    if not steps:
        return
    trackio: Any = importlib.import_module("trackio")
    trackio.init(project=PROJECT, name=name, embed=False, auto_log_gpu=False, auto_log_cpu=False)
    for number, curves in sorted(steps.items()):
        if curves:
            trackio.log(curves, step=number)
    if measures:
        trackio.log(measures, step=max(steps))
    trackio.finish()


def _told(folder: Path) -> tuple[dict[int, dict[str, float]], dict[str, float]]:
    steps: dict[int, dict[str, float]] = {}
    measures: dict[str, float] = {}
    for event in read(folder)[0]:
        facts = event.facts or {}
        number = facts.get("step")
        if event.kind == "step" and isinstance(number, int):
            if number == 1:
                # Another training, in the place of the one before.
                steps.clear()
            steps[number] = _numbers(facts)
        elif event.kind == "validation" and isinstance(number, int):
            # Told after its step.
            steps.setdefault(number, {}).update({f"validation/{key}": each for key, each in _numbers(facts).items()})
        elif event.kind == "measure" and "value" in facts:
            measures |= _numbers({f"gate/{facts['name']}": facts["value"]})
    return steps, measures


def _numbers(facts: Mapping[str, Any]) -> dict[str, float]:
    return {
        name: float(value)
        for name, value in facts.items()
        if name not in _NO_CURVE
        and isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
    }


if __name__ == "__main__":
    track(Path(sys.argv[1]), sys.argv[2])
