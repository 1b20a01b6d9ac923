"""How things are said of somebody: the patterns of ``memory/data/verbs.yaml``, ready to be looked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from memory.documents.extracting.dates import IN_WORDS, day
from memory.documents.extracting.names import NAME, is_company, is_role, may_be
from memory.graph.terms import Kind

_FILE: Final = Path(__file__).resolve().parents[2] / "data" / "verbs.yaml"
_PARTS: Final = {
    "OBJECT": f"(?P<o>{NAME})",
    "SUBJECT": f"(?P<s>{NAME})",
    "NOW": r"(?:\s(?:ahora|actualmente|hoy|now|currently))?",
    "THE": r"(?:el\s|la\s|los\s|las\s|the\s)?",
    "ONE": r"(?:el\s|la\s|una?\s|the\s|an?\s)?",
    "FIRM": r"(?P<firm>(?:la\sempresa|la\scompañía|the\scompany|the\sfirm)\s)?",
    "ROLE": r"(?P<role>[a-záéíóúüñç-]+(?:\s[a-záéíóúüñç-]+){0,2}?)",
    "DAY": f"(?P<day>(?i:{IN_WORDS}))",
    "MAIL": r"(?P<email>\S+@\S+)",
    "NUMBER": r"(?P<phone>\+?\d[\d ()./-]{5,20}\d)",
    "VALUE": r"(?P<value>[^\s,;]+(?:[ \d()./-]+\d)?)",
}


@dataclass(frozen=True)
class Verb:
    """``subject`` and ``object``: what its ends are, None where the name tells; ``turned``: they change places."""

    predicate: str
    subject: Kind | None
    object: Kind | None
    pattern: re.Pattern[str]
    turned: bool


@cache
def verbs(part: str) -> tuple[Verb, ...]:
    """The verbs of one part of the file."""
    return tuple(
        Verb(each["says"], each.get("subject"), each.get("object"), _compiled(each["as"]), each.get("turned", False))
        for each in _told()[part]
    )


@cache
def patterns(part: str) -> tuple[re.Pattern[str], ...]:
    """The patterns of a part that has nothing but those."""
    return tuple(_compiled(each) for each in _told()[part])


def may_be_object(verb: Verb, match: re.Match[str], name: str) -> bool:
    """Whether a name may be what this verb has as its object."""
    if verb.object is None or not may_be(verb.object, name):
        return False
    told = match.groupdict()
    # "works for Peter" and "trabaja en Ejea" look no different from what is said of a company.
    return verb.object != "company" or is_company(name) or bool(told.get("firm")) or told.get("prep") == "at"


def role_of(match: re.Match[str]) -> str | None:
    """The role that a match tells; None where it tells none, or what is told is none."""
    told = match.groupdict().get("role")
    return told.lower() if told and is_role(told) else None


def day_of(match: re.Match[str]) -> str | None:
    """The day that a match tells, as 1984-02-03."""
    told = match.groupdict().get("day")
    return day(told) if told else None


def _compiled(written: str) -> re.Pattern[str]:
    pattern = written.replace(" ", r"\s")
    for part, meaning in _PARTS.items():
        pattern = pattern.replace(part, meaning)
    return re.compile(pattern)


@cache
def _told() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return found
