"""What the family asked to be remembered, word for word, with who said it. Nothing is ever derived by a model."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from configs.sections.memory import MemorySettings
from memory.clock import Clock
from memory.database import Row
from memory.errors import FactEmpty, FactOfAnother, FactTooLong, FactUnknown
from memory.ids import new_id
from memory.recall_index import RecallIndex
from memory.text import folded_words, storable
from memory.visibility import Visibility


@dataclass(frozen=True)
class Fact:
    """``said_by``: a member's id; times in seconds since 1970; a forgotten fact can be restored."""

    id: str
    text: str
    subject: str
    said_by: str
    visibility: Visibility
    created_at: float
    forgotten_at: float | None = None


FoundFacts = list[Fact]  # inside the class, `list` is its method


class Facts:
    """What one member can see: their own private facts and the household's shared ones.

    A fact lives in exactly one file: the member's, or ``family.db`` when it is shared.
    """

    def __init__(
        self, own: RecallIndex, family: RecallIndex, member_id: str, settings: MemorySettings, clock: Clock
    ) -> None:
        self._indexes: dict[Visibility, RecallIndex] = {"private": own, "shared": family}
        self._member_id = member_id
        self._settings = settings
        self._clock = clock

    def add(self, text: str, *, subject: str = "", visibility: Visibility = "private") -> Fact:
        """Remember a text as this member's word. Raises FactEmpty, FactTooLong."""
        now = self._clock()
        fact = Fact(new_id(now), self._checked(text), storable(subject).strip(), self._member_id, visibility, now)
        self._store(fact)
        return fact

    def list(self, *, forgotten: bool = False) -> list[Fact]:
        """Facts, the newest first; with ``forgotten`` those that can be restored."""
        # A crash while a fact was moved can leave it in both files; the shared one is then the later one.
        found: dict[str, Fact] = {}
        for visibility, index in self._indexes.items():
            for row in index.database.rows("SELECT * FROM facts WHERE (forgotten_at IS NOT NULL) = ?", (forgotten,)):
                found[row["id"]] = _fact(row, visibility)
        return sorted(found.values(), key=lambda fact: fact.id, reverse=True)

    def get(self, fact_id: str) -> Fact:
        """Raises FactUnknown, also for another member's private fact."""
        found = self._find(fact_id)
        if found is None:
            raise FactUnknown(id=fact_id)
        return found

    def edit(
        self,
        fact_id: str,
        *,
        text: str | None = None,
        subject: str | None = None,
        visibility: Visibility | None = None,
    ) -> Fact:
        """The fact with other words, another subject, or seen by others. Raises FactUnknown, FactEmpty, FactTooLong."""
        old = self.get(fact_id)
        if visibility == "private" and old.said_by != self._member_id:
            # Nobody can take what another said for themselves alone.
            raise FactUnknown(id=fact_id)
        new = replace(
            old,
            text=old.text if text is None else self._checked(text),
            subject=old.subject if subject is None else storable(subject).strip(),
            visibility=visibility or old.visibility,
        )
        self._store(new)
        for other, index in self._indexes.items():
            if other != new.visibility:
                self._drop(index, fact_id)
        return new

    def forget(self, fact_id: str) -> Fact:
        """Take a fact out of recall and search until ``restore``. Raises FactUnknown."""
        fact = replace(self.get(fact_id), forgotten_at=self._clock())
        self._store(fact)
        return fact

    def restore(self, fact_id: str) -> Fact:
        """Undo ``forget``. Raises FactUnknown."""
        fact = replace(self.get(fact_id), forgotten_at=None)
        self._store(fact)
        return fact

    def purge(self, fact_id: str) -> bool:
        """Remove a fact for good, with every trace of it in the databases; only who said it may.

        False where another window still holds a file as it was: the last one to close it finishes. Raises FactUnknown,
        FactOfAnother, DiskFull.
        """
        fact = self.get(fact_id)
        if fact.said_by != self._member_id:
            raise FactOfAnother(id=fact_id)
        for index in self._indexes.values():
            self._drop(index, fact_id)
        scrubbed = [index.database.scrub() for index in self._indexes.values()]
        return all(scrubbed)

    def purge_forgotten(self, before: float) -> int:
        """Remove for good what this member said and what was forgotten before a time; how many facts went."""
        old = [fact for fact in self.list(forgotten=True) if fact.said_by == self._member_id]
        gone = [fact for fact in old if fact.forgotten_at is not None and fact.forgotten_at < before]
        for fact in gone:
            for index in self._indexes.values():
                self._drop(index, fact.id)
        return len(gone)

    def search(self, text: str, limit: int = 20) -> FoundFacts:
        """Facts that hold every word of ``text``, accents aside, the newest first; any text is safe."""
        wanted = folded_words(storable(text)[: self._settings.search.query_characters])
        if not wanted:
            return []
        return [fact for fact in self.list() if _holds(fact, wanted)][:limit]

    def _find(self, fact_id: str) -> Fact | None:
        places: tuple[Visibility, ...] = ("shared", "private")
        for visibility in places:
            database = self._indexes[visibility].database
            if row := database.row("SELECT * FROM facts WHERE id = ?", (storable(fact_id),)):
                return _fact(row, visibility)
        return None

    def _store(self, fact: Fact) -> None:
        index = self._indexes[fact.visibility]
        with index.database.transaction():
            seq = index.database.value("SELECT seq FROM facts WHERE id = ?", (fact.id,))
            seq = index.database.insert(
                "INSERT OR REPLACE INTO facts (seq, id, text, subject, said_by, created_at, forgotten_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (seq, fact.id, fact.text, fact.subject, fact.said_by, fact.created_at, fact.forgotten_at),
            )
            index.remove("fact", seq)
            if fact.forgotten_at is None:
                index.add("fact", seq, f"{fact.subject} {fact.text}")

    def _drop(self, index: RecallIndex, fact_id: str) -> None:
        with index.database.transaction():
            seq = index.database.value("SELECT seq FROM facts WHERE id = ?", (fact_id,))
            if seq is not None:
                index.remove("fact", seq)
                index.database.run("DELETE FROM facts WHERE seq = ?", (seq,))

    def _checked(self, text: str) -> str:
        clean = storable(text).strip()
        if not folded_words(clean):
            raise FactEmpty()
        if len(clean) > self._settings.fact_characters:
            raise FactTooLong(length=len(clean), limit=self._settings.fact_characters)
        return clean


def facts_at(index: RecallIndex, visibility: Visibility, numbers: Iterable[int]) -> list[tuple[int, Fact]]:
    """The facts in the rows ``numbers`` of one file, with their rows; forgotten ones are left out."""
    wanted = json.dumps(list(numbers))
    rows = index.database.rows(
        "SELECT * FROM facts WHERE seq IN (SELECT value FROM json_each(?)) AND forgotten_at IS NULL", (wanted,)
    )
    return [(row["seq"], _fact(row, visibility)) for row in rows]


def _holds(fact: Fact, wanted: list[str]) -> bool:
    words = folded_words(f"{fact.subject} {fact.text}")
    return all(any(word.startswith(part) for word in words) for part in wanted)


def _fact(row: Row, visibility: Visibility) -> Fact:
    return Fact(
        row["id"], row["text"], row["subject"], row["said_by"], visibility, row["created_at"], row["forgotten_at"]
    )
