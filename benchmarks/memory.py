"""What the household remembers: how much of it comes back, and how long that takes.

``python -m benchmarks.memory --json``; see ``docs/benchmarks.md``.
"""

from __future__ import annotations

import sys

from benchmarks import corrected, graph_scale, remembered
from benchmarks.harness import Part, main
from benchmarks.plan import Plan
from benchmarks.rows import Row


def corrections(plan: Plan) -> list[Row]:
    """Sixty corrections and two hundred other questions."""
    return corrected.rows()


def messages(plan: Plan) -> list[Row]:
    """Searching, and adding to, a growing number of messages."""
    return remembered.messages(plan.memory)


def facts(plan: Plan) -> list[Row]:
    """Recalling from, and adding to, a growing number of facts."""
    return remembered.facts(plan.memory)


def graph(plan: Plan) -> list[Row]:
    """A million nodes and two million edges."""
    return graph_scale.rows(plan.graph)


PARTS: dict[str, Part] = {"corrections": corrections, "messages": messages, "facts": facts, "graph": graph}

if __name__ == "__main__":
    sys.exit(main("memory", __doc__.splitlines()[0], PARTS))
