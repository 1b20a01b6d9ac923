"""How facts come, give way to later ones, and go: the same steps whether something has just happened or is done again.

Facts of one line (somebody's place of work) hold one at a time, in the order in which they were so. Which of them is
taken out of mind, and how, decides whether the one before it is so again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from memory.fact_acts import Act
from memory.fact_rows import Fact, FactRows, Gone, Which
from memory.text import fold
from memory.visibility import Visibility

# What was never so, or never said, leaves its line; what is only to be forgotten was so all the same.
_NEVER: Final = ("undone", "disowned", "edited")
_PLACES: Final[tuple[Visibility, ...]] = ("shared", "private")


class Ledger:
    """The facts that one member can see, in both of the files in which they are."""

    def __init__(self, rows: Mapping[Visibility, FactRows]) -> None:
        self.rows = rows

    @contextmanager
    def together(self) -> Iterator[None]:
        """Everything inside is stored together in each of the two files, the family's last."""
        with self.rows["private"].database.transaction(), self.rows["shared"].database.transaction():
            yield

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Everything inside is stored together in the member's own file; the family's is left to others."""
        with self.rows["private"].database.transaction():
            yield

    def find(self, fact_id: str) -> Fact | None:
        """A fact by its id; where a crash has left it in both files, the shared one is the later."""
        return next((fact for place in _PLACES if (fact := self.rows[place].get(fact_id))), None)

    def where(self, which: Which, *values: object) -> list[Fact]:
        """What a query finds in both files; of a fact that is in both, the shared one."""
        found = {fact.id: fact for place in reversed(_PLACES) for fact in self.rows[place].where(which, *values)}
        return list(found.values())

    def standing(self, line: str) -> Fact | None:
        """What holds of a line now."""
        return next((fact for fact in self.where("of_line", line) if fact.stands), None)

    def add(self, fact: Fact) -> bool:
        """Store a fact; False where it only says again what stood already."""
        before = self.standing(fact.line)
        self.rows[fact.visibility].save(fact)
        self.arrange(fact.line)
        return before is None or fold(before.object) != fold(fact.object) or before.denied != fact.denied

    def take_away(self, fact: Fact, how: Gone, at: float) -> Fact:
        """Have a fact out of mind. What was never so gives its place in the line back to the one before it."""
        gone = replace(fact, forgotten_at=at, forgotten_as=how)
        if how in _NEVER:
            gone = replace(gone, valid_to=None, replaced_by=fact.replaced_by if how == "edited" else None)
        self.rows[gone.visibility].save(gone)
        self.arrange(gone.line)
        return self.find(gone.id) or gone

    def move(self, fact: Fact, visibility: Visibility) -> Fact:
        """Have a fact in the other file. It is stored there first: a crash leaves it twice, never not at all."""
        if fact.visibility == visibility:
            return fact
        moved = replace(fact, visibility=visibility)
        self.rows[visibility].save(moved)
        self.rows[fact.visibility].drop(fact.id)
        return moved

    def apply(self, act: Act, *, of: str | None = None) -> None:
        """Do what somebody did; with ``of`` (a member's id) to that member's facts alone.

        An act on a fact that is not there does nothing: its message is gone, or is no longer read that way.
        """
        fact = self.find(act.fact)
        if fact is not None and of not in (None, fact.said_by):
            fact = None
        if act.kind in ("add", "edit"):
            # Nothing is said where the fact was removed for good later.
            new = Fact(**act.said) if act.said else None
            if fact is not None and act.kind == "edit":
                self.take_away(replace(fact, replaced_by=new.id if new else None), "edited", act.at)
            if new is not None and of in (None, new.said_by):
                self.add(new)
        elif fact is not None:
            self._apply(fact, act)

    def arrange(self, line: str) -> None:
        """Say of each fact of a line until when it held, and what took its place."""
        facts = [fact for fact in self.where("of_line", line) if fact.forgotten_as not in _NEVER]
        facts.sort(key=lambda fact: (fact.valid_from, fact.created_at, fact.id))
        for fact, after in zip(facts, [*facts[1:], None], strict=False):
            valid_to, replaced_by = (after.valid_from, after.id) if after else (None, None)
            if (fact.valid_to, fact.replaced_by) != (valid_to, replaced_by):
                self.rows[fact.visibility].save(replace(fact, valid_to=valid_to, replaced_by=replaced_by))

    def same(self, fact: Fact) -> list[Fact]:
        """The facts that say the same of the same, this one among them: it may have been said several times."""
        return [each for each in self.where("of_line", fact.line) if _alike(each, fact)]

    def _apply(self, fact: Fact, act: Act) -> None:
        match act.kind:
            case "forget":
                for each in self.same(fact):
                    if each.forgotten_at is None:
                        self.take_away(each, "forgotten", act.at)
            case "undo":
                self.take_away(fact, "undone", act.at)
            case "restore":
                for each in self.same(fact):
                    if each.forgotten_as not in (None, "edited"):
                        self.rows[each.visibility].save(replace(each, forgotten_at=None, forgotten_as=None))
                self.arrange(fact.line)
            case "share":
                self.move(fact, "shared")
            case "unshare":
                self.move(fact, "private")
            case "purge":
                # Also where a crash has left it in both files.
                for rows in self.rows.values():
                    rows.drop(fact.id)


def _alike(one: Fact, other: Fact) -> bool:
    return fold(one.object) == fold(other.object) and one.denied == other.denied
