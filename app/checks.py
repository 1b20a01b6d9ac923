"""How the checks of the gate are called."""

from __future__ import annotations

from app.catalogue import Catalogue
from app.terminal_text import clean


def check_name(catalogue: Catalogue, name: str) -> str:
    """What a check, or a reason of a verdict, is called in the catalogue's language; ``name`` where it is unknown."""
    key = f"training.checks.{name}"
    return catalogue.text(key) if catalogue.has(key) else clean(name).replace("_", " ")
