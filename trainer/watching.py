"""Whether the chosen answers became likelier while their preference was trained, told from the run's own events.

Corrections are near-copies of what they correct: a preference loss can fall while the chosen answer loses too
(likelihood displacement, arXiv 2410.08847), and then the training is worth less than its loss says.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from memory.runlog import RunEvent

CHOSEN = "chosen_log_ratio"
FELL = "chosen_less_likely"


def watched_chosen(events: Iterable[RunEvent]) -> dict[str, Any]:
    """For the stage's report; empty where no preference was trained.

    ``chosen_log_ratio``: each epoch's mean of how much likelier a chosen answer is than under the base, where it
    began, in nats an answer. ``warnings`` names FELL where the last of them is below 0.
    """
    # By step: one that was taken again after a crash counts once.
    steps = {event.facts["step"]: event.facts for event in events if event.kind == "step" and event.facts}
    epochs: dict[int, list[float]] = {}
    for _, facts in sorted(steps.items()):
        if CHOSEN in facts:
            epochs.setdefault(facts["epoch"], []).append(facts[CHOSEN])
    means = [sum(values) / len(values) for values in epochs.values()]
    if not means:
        return {}
    return {CHOSEN: means, "warnings": [FELL] if means[-1] < 0 else []}
