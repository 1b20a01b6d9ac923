"""``python -m benchmarks.learning``: training beside TRL's, its arithmetic, a large base, 24 lessons, and nights."""

from __future__ import annotations

import sys

from benchmarks.arithmetic import arithmetic
from benchmarks.family_loop import loop
from benchmarks.gradients import gradients
from benchmarks.harness import main
from benchmarks.large_base import large_base
from benchmarks.nights import nights
from benchmarks.training import training

if __name__ == "__main__":
    parts = {
        "gradients": gradients,
        "training": training,
        "arithmetic": arithmetic,
        "large": large_base,
        "loop": loop,
        "nights": nights,
    }
    sys.exit(main("learning", __doc__ or "", parts))
