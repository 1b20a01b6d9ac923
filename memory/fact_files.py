"""Facts that were exported (``facts.jsonl``), taken in again: as they were, with the words that they rest on.

They are this member's from then on, and theirs alone until they share them, whoever could see them where they were.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, get_args

from memory.fact_acts import Act, ActKind, Acts
from memory.fact_errors import FactLinesWrong
from memory.fact_ledger import Ledger
from memory.fact_rows import About, Fact, Gone, Made
from memory.ids import new_id
from memory.text import folded_words, storable
from memory.text_lines import numbered_lines

_CHOICES: Final[Mapping[str, Sequence[object]]] = {
    "about": get_args(About),
    "forgotten_as": (None, *get_args(Gone)),
    "made_by": get_args(Made),
    "visibility": ("private", "shared"),
}
_TIMES: Final = ("created_at", "forgotten_at", "valid_from", "valid_to")
_MAY_LACK: Final = ("about_member", "forgotten_at", "replaced_by", "valid_to")
_LATEST: Final = 1e11  # seconds since 1970
# What somebody did has to be on record, since facts are made anew of what was said and done.
_DONE: Final[Mapping[Gone | None, ActKind]] = {"forgotten": "forget", "undone": "undo"}


@dataclass(frozen=True)
class ImportedFacts:
    """How many were taken in, and how many were there already."""

    added: int
    known: int


def import_facts(
    ledger: Ledger, member_id: str, members: Collection[str], path: Path, most_characters: int
) -> ImportedFacts:
    """Take in the facts of a file, all of them or none; those that are there stay as they are.

    ``members``: the ids of who belongs to the household; ``most_characters``: of any text of a fact. Raises
    FileUnreadable, FactLinesWrong.
    """
    told = [_ours(fact, member_id, members) for fact in _facts(path, most_characters)]
    edited = {fact.replaced_by: fact for fact in told if fact.forgotten_as == "edited" and fact.replaced_by}
    with ledger.together():
        new = [fact for fact in {fact.id: fact for fact in told}.values() if ledger.find(fact.id) is None]
        acts = [act for fact in new for act in _acts_of(fact, member_id, edited.get(fact.id))]
        for fact in new:
            ledger.rows["private"].save(fact)
        Acts(ledger.rows["private"].database).keep(acts)
        for line in dict.fromkeys(fact.line for fact in new):
            ledger.arrange(line)
    return ImportedFacts(len(new), len(told) - len(new))


def _acts_of(fact: Fact, member_id: str, before: Fact | None) -> list[Act]:
    """What was done to a fact; ``before``: the one whose words it took the place of."""
    done: list[tuple[str, ActKind, Mapping[str, Any], float]] = []
    if fact.source == fact.id:
        said = replace(fact, forgotten_at=None, forgotten_as=None, valid_to=None, replaced_by=None)
        if before is None:
            done.append((fact.id, "add", asdict(said), fact.created_at))
        else:
            done.append((before.id, "edit", asdict(said), before.forgotten_at or fact.created_at))
    if fact.forgotten_as in _DONE and fact.forgotten_at is not None:
        done.append((fact.id, _DONE[fact.forgotten_as], {}, fact.forgotten_at))
    return [Act(new_id(at), of, member_id, kind, said, at) for of, kind, said, at in done]


def _ours(fact: Fact, member_id: str, members: Collection[str]) -> Fact:
    """The fact as this member's: their id where whoever said it had another one."""
    line = "|".join(member_id if part == fact.said_by else part for part in fact.line.split("|"))
    about, whom = fact.about, member_id if fact.about_member == fact.said_by else fact.about_member
    if whom is not None and whom not in members:
        # Somebody of the household where it was said; here their name says who they are.
        about, whom = "person", None
    return replace(fact, said_by=member_id, visibility="private", about=about, about_member=whom, line=line)


def _facts(path: Path, most: int) -> list[Fact]:
    found = []
    for number, raw in numbered_lines(path):
        try:
            found.append(_fact(json.loads(raw.decode("utf-8")), most))
        except (ValueError, RecursionError) as error:
            raise FactLinesWrong(file=str(path), line=number) from error
    return found


def _fact(told: Any, most: int) -> Fact:
    """Raises ValueError."""
    if not isinstance(told, dict):
        raise ValueError("no object")
    values = {}
    for each in fields(Fact):
        if each.name not in told and each.default is MISSING:
            raise ValueError(each.name)
        if each.name in told:
            values[each.name] = _value(each.name, told[each.name], most)
    fact = Fact(**values)
    if not (fact.id and fact.said_by and folded_words(fact.text)):
        raise ValueError("it says nothing")
    if (fact.forgotten_at is None) != (fact.forgotten_as is None):
        raise ValueError("forgotten or not")
    return fact


def _value(name: str, value: Any, most: int) -> Any:
    """Raises ValueError."""
    if value is None and name in _MAY_LACK:
        return None
    if name in _CHOICES:
        # A list would not be one of them either, but says so in its own way.
        good = (value is None or isinstance(value, str)) and value in _CHOICES[name]
    elif name in _TIMES:
        good = type(value) in (int, float) and math.isfinite(value) and 0 <= value < _LATEST
    elif name == "denied":
        good = isinstance(value, bool)
    else:
        good = isinstance(value, str) and len(value) <= most
    if not good:
        raise ValueError(name)
    return storable(value) if isinstance(value, str) else value
