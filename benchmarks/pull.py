"""``python -m benchmarks.pull``: downloads beside a plain stream of ``httpx``, from a server on this machine."""

from __future__ import annotations

import sys

from benchmarks.downloading import limited, unlimited
from benchmarks.harness import main

if __name__ == "__main__":
    sys.exit(main("pull", __doc__ or "", {"unlimited": unlimited, "limited": limited}))
