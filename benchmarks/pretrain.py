"""``python -m benchmarks.pretrain``: a model of one's own, beside litgpt and transformers' Trainer."""

from __future__ import annotations

import sys

from benchmarks.exported_form import exported
from benchmarks.harness import main
from benchmarks.pretraining_steps import steps

if __name__ == "__main__":
    sys.exit(main("pretrain", __doc__ or "", {"steps": steps, "exported": exported}))
