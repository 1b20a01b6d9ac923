"""``python -m benchmarks.learning``: training beside TRL's DPOTrainer, and the whole loop over 24 lessons."""

from __future__ import annotations

import sys

from benchmarks.family_loop import loop
from benchmarks.harness import main
from benchmarks.training import training

if __name__ == "__main__":
    sys.exit(main("learning", __doc__ or "", {"training": training, "loop": loop}))
