"""The result of a benchmark: one row a measure, in JSON and as a table to read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

Bounded = Literal["ratio", "value"]
Better = Literal["lower", "higher"]


@dataclass(frozen=True)
class Row:
    """One measure. ``ratio`` is ``value / peer_value``; ``ok`` is None where nothing is promised or measured.

    ``bound`` speaks of ``bound_on`` and is a ceiling where lower is better, a floor where higher is.
    """

    name: str
    value: float | None
    unit: str
    peer: str
    peer_value: float | None
    ratio: float | None
    bound: float | None
    ok: bool | None
    bound_on: Bounded
    better: Better
    samples: int
    note: str


def row(
    name: str,
    value: float | None,
    unit: str,
    *,
    peer: str = "",
    peer_value: float | None = None,
    bound: float | None = None,
    bound_on: Bounded = "ratio",
    better: Better = "lower",
    samples: int = 1,
    note: str = "",
) -> Row:
    """A row with its ratio and verdict worked out from the two values."""
    ratio = value / peer_value if value is not None and peer_value else None
    judged = ratio if bound_on == "ratio" else value
    ok = None
    if bound is not None and judged is not None:
        ok = judged <= bound if better == "lower" else judged >= bound
    return Row(name, value, unit, peer, peer_value, ratio, bound, ok, bound_on, better, samples, note)


def as_json(machine: Mapping[str, object], rows: Sequence[Row]) -> str:
    """The object that ``--json`` prints."""
    return json.dumps({"machine": machine, "rows": [asdict(each) for each in rows]}, ensure_ascii=False, indent=1)


def as_table(machine: Mapping[str, object], rows: Sequence[Row]) -> str:
    """The same for people: aligned columns, the notes under them."""
    head = ("measure", "Enlace", "unit", "peer", "value", "ratio", "bound", "")
    body = [
        (
            each.name,
            _number(each.value),
            each.unit,
            each.peer or "-",
            _number(each.peer_value),
            _number(each.ratio),
            _bound(each),
            {True: "ok", False: "NOT HELD", None: ""}[each.ok],
        )
        for each in rows
    ]
    widths = [max(len(line[column]) for line in (head, *body)) for column in range(len(head))]
    lines = ["  ".join(f"{key}: {value}" for key, value in machine.items()), ""]
    lines += ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in (head, *body)]
    notes = [f"{each.name}: {each.note}" for each in rows if each.note]
    return "\n".join(line.rstrip() for line in [*lines, "", *notes]).rstrip()


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _bound(each: Row) -> str:
    if each.bound is None:
        return "-"
    sign = "≤" if each.better == "lower" else "≥"
    return f"{sign} {each.bound:.4g}" + (" ×" if each.bound_on == "ratio" else f" {each.unit}")
