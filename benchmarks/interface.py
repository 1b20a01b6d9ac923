"""``python -m benchmarks.interface``: smooth streaming, and the times to the first screen and answer."""

from __future__ import annotations

import sys

from benchmarks.first_answer import first_answer
from benchmarks.first_paint import start
from benchmarks.harness import main
from benchmarks.smoothness import streaming

if __name__ == "__main__":
    sys.exit(main("interface", __doc__ or "", {"start": start, "first_answer": first_answer, "streaming": streaming}))
