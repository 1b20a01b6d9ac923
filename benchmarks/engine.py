"""``python -m benchmarks.engine``: one-shot answers beside ``llm -m SmolLM2``, decoding beside ``xllamacpp``."""

from __future__ import annotations

import sys

from benchmarks.decoding import streams
from benchmarks.harness import main
from benchmarks.one_shot import long_answer, one_shot

if __name__ == "__main__":
    sys.exit(main("engine", __doc__ or "", {"one-shot": one_shot, "long-answer": long_answer, "streams": streams}))
