"""How what a run tells is put into words: its checks with their numbers and bounds, and the lessons it left out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from app.catalogue import Catalogue
from app.terminal_text import clean

# What the event of the kind "measure" is called that names a lesson left out.
LESSON_DROPPED: Final = "lesson_dropped"
# What the gate adds to the name of a check that it holds for another reason than its value.
_WHY: Final = ("missing", "undecided")
_SIGNS: Final[dict[Any, str]] = {True: "≥ ", False: "≤ "}


def check_name(catalogue: Catalogue, name: str) -> str:
    """What a check, or a reason of a verdict, is called in the catalogue's language; ``name`` where it is unknown."""
    check, _, why = name.rpartition("_")
    if why in _WHY:
        return catalogue.text(f"training.{why}", check=check_name(catalogue, check))
    key = f"training.checks.{name}"
    return catalogue.text(key) if catalogue.has(key) else clean(name).replace("_", " ")


def check_value(check: Mapping[str, Any]) -> str:
    """What was measured, to four digits, with a sign before it where it was reckoned; a dash where nothing was."""
    sign = "≈ " if check.get("reckoned") and check.get("value") is not None else ""
    return sign + _number(check.get("value"))


def check_interval(check: Mapping[str, Any]) -> str:
    """Between what the value lies where it was measured on few answers; empty where it was not."""
    low, high = check.get("low"), check.get("high")
    return "" if low is None or high is None else f"{low:.2f}–{high:.2f}"


def check_bound(check: Mapping[str, Any]) -> str:
    """The bound, with the sign of the side on which a value keeps it."""
    return _SIGNS.get(check.get("at_least"), "") + _number(check.get("bound"))


def told_override(override: Mapping[str, Any]) -> dict[str, str]:
    """Who had a held training answer all the same, when and why, as the texts about it take them."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(float(override["at"])))
    return {"who": clean(str(override["who"])), "why": clean(str(override["why"])), "when": when}


def left_out(catalogue: Catalogue, dropped: Mapping[str, Any]) -> str:
    """Which lesson a training left out and why, in one sentence."""
    key = f"training.left_out.{dropped.get('reason')}"
    known = key if catalogue.has(key) else "training.left_out.other"
    facts = {name: " ".join(clean(str(dropped.get(name, ""))).split()) for name in ("question", "why")}
    return catalogue.text(known, **facts)


def _number(value: Any) -> str:
    if value is None:
        return "—"
    return f"{value:.4g}" if isinstance(value, float) else clean(str(value))
