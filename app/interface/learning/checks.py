"""What a gate measured, as rows: each number beside its bound, and whether it passed in a sign and a word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rich.text import Text

from app.catalogue import Catalogue
from app.checks import check_bound, check_name, check_value, told_override

_NAME_CELLS: Final = 44
_NUMBER_CELLS: Final = 10
# "✗ no pasa" and the blanks before it.
_WORD_CELLS: Final = 12
_FEWEST_CELLS: Final = 12


def checks_text(verdict: Mapping[str, Any], catalogue: Catalogue, width: int) -> Text:
    """The table and the decision with its reasons, for ``width`` cells."""
    text = catalogue.text
    name_cells = max(_FEWEST_CELLS, min(_NAME_CELLS, width - 2 * _NUMBER_CELLS - _WORD_CELLS))
    rows = Text()
    heads = [text(f"screen.learning.training.{name}") for name in ("check", "value", "bound")]
    rows.append(f"{heads[0]:<{name_cells}}{heads[1]:>{_NUMBER_CELLS}}{heads[2]:>{_NUMBER_CELLS}}\n", "bold")
    for check in verdict.get("checks") or ():
        name = check_name(catalogue, str(check.get("name", "?")))
        ok = bool(check.get("ok"))
        passed = text(f"screen.learning.training.{'ok' if ok else 'not_ok'}")
        shown = name if len(name) < name_cells else name[: name_cells - 2] + "…"
        rows.append(
            f"{shown:<{name_cells}}{check_value(check):>{_NUMBER_CELLS}}{check_bound(check):>{_NUMBER_CELLS}}  "
        )
        rows.append(passed + "\n", "" if ok else "bold")
    decision = str(verdict.get("decision", ""))
    if decision in ("SHIP", "HOLD"):
        rows.append("\n" + text(f"screen.learning.training.{decision.lower()}") + "\n", "bold")
    if override := verdict.get("override"):
        rows.append(text("training.overridden", **told_override(override)) + "\n", "bold")
    for reason in verdict.get("reasons") or ():
        rows.append(f"· {check_name(catalogue, str(reason))}\n")
    return rows
