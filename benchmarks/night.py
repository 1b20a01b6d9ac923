"""``python -m benchmarks.night``: what the night rests on: planning a run, checking the store, and going back."""

from __future__ import annotations

import sys

from benchmarks.harness import main
from benchmarks.planning import planning
from benchmarks.rollback import rollback

if __name__ == "__main__":
    sys.exit(main("night", __doc__ or "", {"planning": planning, "rollback": rollback}))
