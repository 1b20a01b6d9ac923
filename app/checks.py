"""How the checks of the gate are put into words: their names, and their numbers beside their bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.catalogue import Catalogue
from app.terminal_text import clean

_SIGNS: Final[dict[Any, str]] = {True: "≥ ", False: "≤ "}


def check_name(catalogue: Catalogue, name: str) -> str:
    """What a check, or a reason of a verdict, is called in the catalogue's language; ``name`` where it is unknown."""
    key = f"training.checks.{name}"
    return catalogue.text(key) if catalogue.has(key) else clean(name).replace("_", " ")


def check_value(check: Mapping[str, Any]) -> str:
    """What was measured, to four digits; a dash where nothing was."""
    return _number(check.get("value"))


def check_bound(check: Mapping[str, Any]) -> str:
    """The bound, with the sign of the side on which a value keeps it."""
    return _SIGNS.get(check.get("at_least"), "") + _number(check.get("bound"))


def _number(value: Any) -> str:
    if value is None:
        return "—"
    return f"{value:.4g}" if isinstance(value, float) else clean(str(value))
