"""Facts as rows of one database file: read, written, and in recall's index while they stand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from memory.database import Row
from memory.recall_index import RecallIndex
from memory.visibility import Visibility

About = Literal["member", "person", "household"]
Made = Literal["person", "rules", "model"]
Gone = Literal["forgotten", "undone", "disowned", "edited"]

_COLUMNS: Final = (
    "id", "text", "subject", "said_by", "created_at", "forgotten_at", "predicate", "detail", "object", "about",
    "about_member", "denied", "speaker", "valid_from", "valid_to", "replaced_by", "forgotten_as", "source", "quote",
    "made_by", "line",
)  # fmt: skip


Which = Literal["of_line", "standing", "out_of_mind", "begun_by", "replaced_by", "said_in", "made_of", "people"]
_QUERIES: Final[dict[Which, str]] = {
    "of_line": "SELECT * FROM facts WHERE line = ? ORDER BY seq",
    "standing": "SELECT * FROM facts_standing ORDER BY seq",
    "out_of_mind": "SELECT * FROM facts WHERE forgotten_at IS NOT NULL AND forgotten_as <> 'edited' ORDER BY seq",
    "begun_by": "SELECT * FROM facts WHERE valid_from <= ? ORDER BY seq",
    "replaced_by": "SELECT * FROM facts WHERE replaced_by = ? ORDER BY seq",
    "said_in": "SELECT * FROM facts WHERE source IN (SELECT value FROM json_each(?)) ORDER BY seq",
    "made_of": "SELECT * FROM facts WHERE said_by = ? AND source <> '' ORDER BY seq",  # what that member said or did
    "people": "SELECT * FROM facts WHERE predicate IN ('relative', 'pet') AND forgotten_at IS NULL ORDER BY seq",
}
_SAVE: Final = """
    INSERT OR REPLACE INTO facts (seq, id, text, subject, said_by, created_at, forgotten_at, predicate, detail, object,
        about, about_member, denied, speaker, valid_from, valid_to, replaced_by, forgotten_as, source, quote,
        made_by, line)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


@dataclass(frozen=True)
class Fact:
    """One thing that somebody said. Times in seconds since 1970.

    ``text``: the sentence as it is shown; ``subject``, ``predicate``, ``detail`` (which relative, which favourite) and
    ``object``: what it says, of whom (``about``; ``about_member``: a member's id). ``denied``: that it is no longer so.
    ``said_by``: a member's id; ``speaker``: the name of whoever spoke on that member's screen, where it was another.
    ``valid_to``: when ``replaced_by`` took its place; of the facts that share a ``line``, one holds at a time.
    ``forgotten_as``: why it is out of mind; what is not "edited" can be restored. ``quote``: the exact words, which
    stand in ``source``, the id of a message, or of the fact itself where a person noted it.
    """

    id: str
    text: str
    subject: str
    said_by: str
    visibility: Visibility
    created_at: float
    forgotten_at: float | None = None
    predicate: str = "note"
    detail: str = ""
    object: str = ""
    about: About = "household"
    about_member: str | None = None
    denied: bool = False
    speaker: str = ""
    valid_from: float = 0
    valid_to: float | None = None
    replaced_by: str | None = None
    forgotten_as: Gone | None = None
    source: str = ""
    quote: str = ""
    made_by: Made = "person"
    line: str = ""

    @property
    def stands(self) -> bool:
        """Whether it is so now, as far as is known, and may be recalled."""
        return self.forgotten_at is None and self.valid_to is None

    def holds_at(self, moment: float) -> bool:
        """Whether it was so at a time, by what is known now."""
        known = self.forgotten_at is None and not self.denied
        return known and self.valid_from <= moment and (self.valid_to is None or moment < self.valid_to)


class FactRows:
    """The table ``facts`` of one file, and what recall finds in it."""

    def __init__(self, index: RecallIndex, visibility: Visibility) -> None:
        self.database = index.database
        self.visibility = visibility
        self._index = index

    def get(self, fact_id: str) -> Fact | None:
        row = self.database.row("SELECT * FROM facts WHERE id = ?", (fact_id,))
        return None if row is None else read_fact(row, self.visibility)

    def where(self, which: Which, *values: object) -> list[Fact]:
        """The facts that one of the queries below finds, in the order in which they were stored."""
        return [read_fact(row, self.visibility) for row in self.database.rows(_QUERIES[which], values)]

    def save(self, fact: Fact) -> None:
        """Store a fact, in place of an earlier state of it; recall finds it while it stands."""
        with self.database.transaction():
            seq = self.database.value("SELECT seq FROM facts WHERE id = ?", (fact.id,))
            seq = self.database.insert(_SAVE, (seq, *(getattr(fact, column) for column in _COLUMNS)))
            self._index.remove("fact", seq)
            if fact.stands:
                self._index.add("fact", seq, f"{fact.subject} {fact.text}")

    def drop(self, fact_id: str) -> None:
        """Remove a fact for good, if it is here."""
        with self.database.transaction():
            seq = self.database.value("SELECT seq FROM facts WHERE id = ?", (fact_id,))
            if seq is not None:
                self._index.remove("fact", seq)
                self.database.run("DELETE FROM facts WHERE seq = ?", (seq,))


def facts_at(index: RecallIndex, visibility: Visibility, numbers: Iterable[int]) -> list[tuple[int, Fact]]:
    """The facts in the rows ``numbers`` of one file, with their rows; what does not stand is left out."""
    wanted = json.dumps(list(numbers))
    rows = index.database.rows("SELECT * FROM facts_standing WHERE seq IN (SELECT value FROM json_each(?))", (wanted,))
    return [(row["seq"], read_fact(row, visibility)) for row in rows]


def read_fact(row: Row, visibility: Visibility) -> Fact:
    """A row of ``facts`` in a file that holds those of ``visibility``."""
    values = {column: row[column] for column in _COLUMNS}
    return Fact(visibility=visibility, **{**values, "denied": bool(row["denied"])})
