"""The inverted index of recall in one database file: which lessons and facts hold a term, and what they mean.

It is in the file and not in memory, so that what another process stores is found at once, and so that the
first question of a short-lived command need not read every lesson first.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from configs.sections.recall import RecallSettings
from memory.database import Database
from memory.meaning.vector_index import VectorIndex
from memory.wording import Wordings

Kind = Literal["lesson", "fact"]
Texts = tuple[str, ...]  # a lesson's question and answer, or a fact
KINDS: Final[tuple[Kind, ...]] = ("lesson", "fact")
# What is kept of an item to find it by, each with its kind and its row.
TABLES: Final = ("recall_terms", "vectors", "vectors_due")
# How many times as many items as are wanted are looked at, where not all entries were read.
_LIKELY: Final = 4
_NAME = "recall_terms"
_MEANING = "vectors"
# What of lessons and facts recall goes by: those that may be recalled, all of them or the rows of a JSON list.
_INDEXED: Final[dict[Kind, str]] = {
    "lesson": "SELECT seq, messages, chosen FROM lessons WHERE status = 'active' AND source <> 'thumb'"
    " AND (?1 IS NULL OR seq IN (SELECT value FROM json_each(?1)))",
    "fact": "SELECT seq, subject || ' ' || text AS text FROM facts_standing"
    " WHERE (?1 IS NULL OR seq IN (SELECT value FROM json_each(?1)))",
}


@dataclass(frozen=True)
class Counts:
    """About how many of all ``items`` hold each term."""

    of: dict[str, int]
    items: int


@dataclass(frozen=True)
class Postings:
    """The items of one kind that hold some terms, and how many do."""

    counts: Counts
    items: dict[str, list[int]]


class RecallIndex:
    """The tables ``recall_terms`` and ``vectors`` beside ``lessons`` and ``facts``."""

    def __init__(self, database: Database, wordings: Wordings, settings: RecallSettings) -> None:
        self.database = database
        self.vectors = VectorIndex(database, settings.meaning)
        self._wordings = wordings
        self._settings = settings
        if self._version(_NAME) != wordings.version:
            self._rebuild()

    def add(self, kind: Kind, item: int, text: str) -> None:
        """Index an item that is not in the index."""
        terms = self._wordings.terms(text)
        self.database.run_many(
            "INSERT OR IGNORE INTO recall_terms (term, kind, item) VALUES (?, ?, ?)",
            [(term, kind, item) for term in sorted(terms)],
        )
        self.database.run("INSERT OR IGNORE INTO vectors_due (kind, item) VALUES (?, ?)", (kind, item))

    def remove(self, kind: Kind, item: int) -> None:
        """Take an item out of the index, if it is there."""
        for table in TABLES:
            self.database.run(f"DELETE FROM {table} WHERE kind = ? AND item = ?", (kind, item))  # noqa: S608

    def texts(self, kind: Kind, items: Iterable[int] | None = None) -> dict[int, Texts]:
        """What is indexed of ``items``, by default of all that may be recalled; of others nothing."""
        rows = self.database.rows(_INDEXED[kind], (None if items is None else json.dumps(list(items)),))
        if kind == "fact":
            return {row["seq"]: (row["text"],) for row in rows}
        return {row["seq"]: (json.loads(row["messages"])[-1]["content"], row["chosen"]) for row in rows}

    def postings(self, kind: Kind, terms: Iterable[str]) -> Postings:
        """Which items hold each of ``terms``: of a term in very many the latest, so that the time has a bound.

        In how many others such a term is, is told by how close together the latest are.
        """
        wanted = list(terms)
        most = max(1, self._settings.postings // max(1, len(wanted)))
        latest = self.database.value("SELECT max(item) FROM recall_terms WHERE kind = ?", (kind,)) or 0
        items: dict[str, list[int]] = {}
        for term in wanted:
            rows = self.database.rows(
                "SELECT item FROM recall_terms WHERE term = ? AND kind = ? ORDER BY item DESC LIMIT ?",
                (term, kind, most),
            )
            if rows:
                items[term] = [row["item"] for row in rows]
        of = {
            term: len(held) if len(held) < most else max(most, most * latest // (latest - held[-1] + 1))
            for term, held in items.items()
        }
        return Postings(Counts(of, latest), items)

    def best(
        self, kind: Kind, postings: Postings, weights: Mapping[str, float], most: int
    ) -> dict[int, frozenset[str]]:
        """The ``most`` items whose terms in common with ``weights`` weigh most, each with all the terms it holds."""
        sums: dict[int, float] = {}
        for term, weight in weights.items():
            for item in postings.items.get(term, ()):
                sums[item] = sums.get(item, 0.0) + weight
        chosen = heapq.nlargest(most, ((total, item) for item, total in sums.items()))
        if all(len(held) >= postings.counts.of[term] for term, held in postings.items.items()):
            return self.terms(kind, [item for _, item in chosen])
        # Of a term in very many items only the latest were read: all that the likely ones hold is looked at.
        likely = heapq.nlargest(_LIKELY * most, ((total, item) for item, total in sums.items()))
        held = self.terms(kind, [item for _, item in likely])
        ranked = sorted(held, key=lambda item: (sum(weights.get(term, 0.0) for term in held[item]), item), reverse=True)
        return {item: held[item] for item in ranked[:most]}

    def terms(self, kind: Kind, items: Iterable[int]) -> dict[int, frozenset[str]]:
        """The terms that each of ``items`` holds; those without any are left out."""
        rows = self.database.rows(
            "SELECT item, group_concat(term, ' ') AS terms FROM recall_terms"
            " WHERE kind = ? AND item IN (SELECT value FROM json_each(?)) GROUP BY item",
            (kind, json.dumps(list(items))),
        )
        return {row["item"]: frozenset(row["terms"].split(" ")) for row in rows}

    def want_vectors(self, version: str) -> None:
        """Have all vectors made anew, where those that are there are of another version."""
        if self._version(_MEANING) == version:
            return
        with self.database.transaction():
            self.database.run("DELETE FROM vectors")
            self.database.run("INSERT OR IGNORE INTO vectors_due SELECT DISTINCT kind, item FROM recall_terms")
            self.database.run("INSERT OR REPLACE INTO index_versions VALUES (?, ?)", (_MEANING, version))

    def _version(self, name: str) -> str | None:
        version: str | None = self.database.value("SELECT version FROM index_versions WHERE name = ?", (name,))
        return version

    def _rebuild(self) -> None:
        """Index everything anew: a new file, or one that other code indexed."""
        with self.database.transaction():
            for table in TABLES:
                self.database.run(f"DELETE FROM {table}")  # noqa: S608
            for kind in KINDS:
                for item, texts in self.texts(kind).items():
                    self.add(kind, item, texts[0])
            values = (_NAME, self._wordings.version)
            self.database.run("INSERT OR REPLACE INTO index_versions VALUES (?, ?)", values)
