"""``python -m benchmarks.learning``: training and its gradients beside TRL's, on a large base, and over 24 lessons."""

from __future__ import annotations

import sys

from benchmarks.family_loop import loop
from benchmarks.gradients import gradients
from benchmarks.harness import main
from benchmarks.large_base import large_base
from benchmarks.training import training

if __name__ == "__main__":
    parts = {"gradients": gradients, "training": training, "large": large_base, "loop": loop}
    sys.exit(main("learning", __doc__ or "", parts))
