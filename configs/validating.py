"""What is told of a value that pydantic refused, and what it takes although it should not."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from configs.errors import Fact


@dataclass(frozen=True)
class Misread:
    """``kind``: pydantic's name for that kind of error, where it has one."""

    key: str
    reason: str
    kind: str


def bounds(problem: Mapping[str, Any]) -> dict[str, Fact]:
    """What one of pydantic's errors says of the value that it asks for, in figures and names."""
    told = {name: value for name, value in problem.get("ctx", {}).items() if isinstance(value, str | int | float)}
    if problem["type"] == "literal_error":
        # "'', 'es' or 'en'": the last one is not told from the others, so that it reads in any language.
        told["expected"] = str(told["expected"]).replace(" or ", ", ")
    return told


def nearest(problem: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """The existing key that an unknown one was probably meant to be, or "". ``known``: sections within each other."""
    if problem["type"] != "extra_forbidden":
        return ""
    *sections, last = (str(part) for part in problem["loc"])
    for section in sections:
        known = known.get(section, {}) if isinstance(known, Mapping) else {}
    close = difflib.get_close_matches(last, list(known), n=1) if isinstance(known, Mapping) else []
    return ".".join([*sections, *close]) if close else ""


def misread(given: Any, taken: Any) -> Misread | None:
    """The first value, as it was given and as pydantic took it, that should have been refused."""
    for reason, kind, wrong in _MISREAD:
        if key := _first(given, taken, wrong):
            return Misread(key, reason, kind)
    return None


def _truth_for_number(given: Any, taken: Any) -> bool:
    return isinstance(given, bool) and not isinstance(taken, bool)


def _endless(_: Any, taken: Any) -> bool:
    """Pydantic takes 1e999 for a time, which then never ends, and nothing is more or less than what is no number."""
    return isinstance(taken, float) and not math.isfinite(taken)


# What of a value that was taken must not have been: why, pydantic's name for that kind of error, and how it is told.
_MISREAD: Sequence[tuple[str, str, Callable[[Any, Any], bool]]] = (
    ("true and false are no numbers", "", _truth_for_number),
    ("Input should be a finite number", "finite_number", _endless),
)


def _first(given: Any, taken: Any, wrong: Callable[[Any, Any], bool]) -> str:
    """The dotted key of the first value that is ``wrong``, or ""."""
    if wrong(given, taken):
        return "."
    pairs: Iterable[tuple[Any, Any, Any]] = ()
    if isinstance(given, Mapping) and isinstance(taken, Mapping):
        pairs = ((key, value, taken[key]) for key, value in given.items())
    elif isinstance(given, list) and isinstance(taken, list | tuple):
        pairs = zip(range(len(given)), given, taken, strict=True)
    for key, value, became in pairs:
        if found := _first(value, became, wrong):
            return f"{key}.{found}".rstrip(".")
    return ""
