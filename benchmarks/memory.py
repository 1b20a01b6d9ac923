"""What the household remembers: how much of it comes back, and how long that takes.

``python -m benchmarks.memory --json``; see ``docs/benchmarks.md``.
"""

from __future__ import annotations

import sys

from benchmarks import corrected, graph_scale
from benchmarks.harness import Part, main
from benchmarks.plan import Plan
from benchmarks.rows import Row


def corrections(plan: Plan) -> list[Row]:
    """Sixty corrections and two hundred other questions."""
    return corrected.rows()


def graph(plan: Plan) -> list[Row]:
    """A million nodes and two million edges."""
    return graph_scale.rows(plan.graph)


PARTS: dict[str, Part] = {"corrections": corrections, "graph": graph}

if __name__ == "__main__":
    sys.exit(main("memory", __doc__.splitlines()[0], PARTS))
