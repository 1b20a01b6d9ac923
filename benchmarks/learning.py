"""``python -m benchmarks.learning``: training and its gradients beside TRL's, and the whole loop over 24 lessons."""

from __future__ import annotations

import sys

from benchmarks.family_loop import loop
from benchmarks.gradients import gradients
from benchmarks.harness import main
from benchmarks.training import training

if __name__ == "__main__":
    sys.exit(main("learning", __doc__ or "", {"gradients": gradients, "training": training, "loop": loop}))
