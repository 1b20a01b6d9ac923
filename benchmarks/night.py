"""``python -m benchmarks.night``: planning a run, checking the store, going back, and chat while a training works."""

from __future__ import annotations

import sys

from benchmarks.beside_training import beside_training
from benchmarks.harness import main
from benchmarks.planning import planning
from benchmarks.rollback import rollback

if __name__ == "__main__":
    parts = {"planning": planning, "rollback": rollback, "beside": beside_training}
    sys.exit(main("night", __doc__ or "", parts))
