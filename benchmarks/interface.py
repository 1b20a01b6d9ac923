"""``python -m benchmarks.interface``: smooth streaming, and the time to the first screen beside ``elia``."""

from __future__ import annotations

import sys

from benchmarks.first_paint import start
from benchmarks.harness import main
from benchmarks.smoothness import streaming

if __name__ == "__main__":
    sys.exit(main("interface", __doc__ or "", {"start": start, "streaming": streaming}))
