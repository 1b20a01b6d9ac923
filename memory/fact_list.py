"""All facts that one member can see, to be looked through: also a hundred thousand of them, a page at a time.

What is looked for as somebody types is looked for in memory: the words of each fact, folded, and where it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from memory.database import Row
from memory.fact_rows import Fact, FactRows, read_fact
from memory.text import folded_words, storable
from memory.visibility import Visibility

# Rows that are read at a time, so that nobody who writes or reads meanwhile waits for all of them.
_AT_ONCE: Final = 2_000
_STANDING: Final = "forgotten_at IS NULL AND valid_to IS NULL"
_FORGOTTEN: Final = "forgotten_at IS NOT NULL AND forgotten_as <> 'edited'"


@dataclass(frozen=True)
class _Entry:
    id: str
    visibility: Visibility
    seq: int
    words: str  # folded, each between blanks


class FactList:
    """Facts that hold some words, the newest first, each read when it is looked at."""

    def __init__(self, rows: Mapping[Visibility, FactRows], entries: list[_Entry]) -> None:
        self._rows = rows
        self._entries = entries

    @classmethod
    def of(cls, rows: Mapping[Visibility, FactRows], *, forgotten: bool = False) -> FactList:
        """Those that stand; with ``forgotten`` those that can be restored."""
        found = {
            # A crash while a fact was moved can leave it in both files; the shared one is then the later one.
            entry.id: entry
            for visibility in ("private", "shared")
            for entry in _entries(rows[visibility], visibility, _FORGOTTEN if forgotten else _STANDING)
        }
        return cls(rows, sorted(found.values(), key=lambda entry: entry.id, reverse=True))

    def __len__(self) -> int:
        return len(self._entries)

    def holding(self, text: str) -> FactList:
        """Those of them that hold every word of ``text``, or a word that begins with it, accents aside."""
        wanted = [f" {word}" for word in folded_words(storable(text))]
        return FactList(self._rows, [entry for entry in self._entries if all(word in entry.words for word in wanted)])

    def facts(self, start: int, stop: int) -> list[Fact | None]:
        """Those from ``start`` up to ``stop``; None for one that has gone meanwhile."""
        wanted = self._entries[start:stop]
        found = {
            row["id"]: read_fact(row, visibility)
            for visibility, rows in self._rows.items()
            for row in _at(rows, [entry.seq for entry in wanted if entry.visibility == visibility])
        }
        return [found.get(entry.id) for entry in wanted]


def subjects(rows: Mapping[Visibility, FactRows]) -> dict[str, int]:
    """Of whom there are facts that stand, and how many, by name."""
    found: dict[str, int] = {}
    for each in rows.values():
        for row in each.database.rows(
            f"SELECT subject, count(*) AS number FROM facts WHERE {_STANDING} AND subject <> '' GROUP BY subject"  # noqa: S608
        ):
            found[row["subject"]] = found.get(row["subject"], 0) + row["number"]
    return found


def _entries(rows: FactRows, visibility: Visibility, condition: str) -> Iterator[_Entry]:
    last = 0
    while True:
        # The condition is code of ours.
        page = rows.database.rows(
            f"SELECT seq, id, subject, text FROM facts WHERE seq > ? AND {condition} ORDER BY seq LIMIT ?",  # noqa: S608
            (last, _AT_ONCE),
        )
        for row in page:
            words = " ".join(folded_words(f"{row['subject']} {row['text']}"))
            yield _Entry(row["id"], visibility, row["seq"], f" {words} ")
        if len(page) < _AT_ONCE:
            return
        last = page[-1]["seq"]


def _at(rows: FactRows, numbers: list[int]) -> list[Row]:
    wanted = json.dumps(numbers)
    return rows.database.rows("SELECT * FROM facts WHERE seq IN (SELECT value FROM json_each(?))", (wanted,))
