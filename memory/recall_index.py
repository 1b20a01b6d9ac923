"""The inverted index of recall in one database file: which lessons and facts hold a term.

It is in the file and not in memory, so that what another process stores is found at once, and so that the
first question of a short-lived command need not read every lesson first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from memory.database import Database
from memory.wording import Wordings

Kind = Literal["lesson", "fact"]
_NAME = "recall_terms"


@dataclass(frozen=True)
class Counts:
    """How many of all ``items`` hold each term."""

    of: dict[str, int]
    items: int


class RecallIndex:
    """The table ``recall_terms`` beside ``lessons`` and ``facts``."""

    def __init__(self, database: Database, wordings: Wordings) -> None:
        self.database = database
        self._wordings = wordings
        if database.value("SELECT version FROM index_versions WHERE name = ?", (_NAME,)) != wordings.version:
            self._rebuild()

    def add(self, kind: Kind, item: int, text: str) -> None:
        """Index an item that is not in the index."""
        terms = self._wordings.terms(text)
        self.database.run_many(
            "INSERT OR IGNORE INTO recall_terms (term, kind, item) VALUES (?, ?, ?)",
            [(term, kind, item) for term in sorted(terms)],
        )

    def remove(self, kind: Kind, item: int) -> None:
        """Take an item out of the index, if it is there."""
        self.database.run("DELETE FROM recall_terms WHERE kind = ? AND item = ?", (kind, item))

    def counts(self, kind: Kind, terms: Iterable[str]) -> Counts:
        """How many items there are, and how many of them hold each of ``terms`` (none: left out)."""
        rows = self.database.rows(
            "SELECT term, count(*) AS items FROM recall_terms"
            " WHERE kind = ? AND term IN (SELECT value FROM json_each(?)) GROUP BY term",
            (kind, json.dumps(list(terms))),
        )
        if not rows:
            return Counts({}, 0)
        items = "SELECT count(*) FROM lessons" if kind == "lesson" else "SELECT count(*) FROM facts"
        return Counts({row["term"]: row["items"] for row in rows}, self.database.value(items))

    def candidates(self, kind: Kind, weights: Mapping[str, float], most: int) -> dict[int, frozenset[str]]:
        """The ``most`` items whose terms in common with ``weights`` weigh most, each with all the terms it holds."""
        rows = self.database.rows(
            "SELECT item, group_concat(term, ' ') AS terms FROM recall_terms WHERE kind = ?1 AND item IN ("
            "  SELECT item FROM json_each(?2) JOIN recall_terms ON term = json_each.key WHERE kind = ?1"
            "  GROUP BY item ORDER BY sum(json_each.value) DESC, item DESC LIMIT ?3"
            ") GROUP BY item",
            (kind, json.dumps(dict(weights)), most),
        )
        return {row["item"]: frozenset(row["terms"].split(" ")) for row in rows}

    def _rebuild(self) -> None:
        """Index everything anew: a new file, or one that other code indexed."""
        with self.database.transaction():
            self.database.run("DELETE FROM recall_terms")
            for row in self.database.rows(
                "SELECT seq, messages FROM lessons WHERE status = 'active' AND source <> 'thumb'"
            ):
                self.add("lesson", row["seq"], json.loads(row["messages"])[-1]["content"])
            for row in self.database.rows("SELECT seq, subject, text FROM facts WHERE forgotten_at IS NULL"):
                self.add("fact", row["seq"], f"{row['subject']} {row['text']}")
            values = (_NAME, self._wordings.version)
            self.database.run("INSERT OR REPLACE INTO index_versions VALUES (?, ?)", values)
