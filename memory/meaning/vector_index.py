"""The vectors of one database file: kept beside what they are of, and looked through for those near a question's.

Of each vector's numbers the signs alone are looked at first, a bit each: 48 bytes an item are kept in memory, and
100,000 items are looked through in a few milliseconds ("Binary quantization" with rescoring; Charikar, "Similarity
estimation techniques from rounding algorithms", 2002). The nearest are then read and compared by all they hold.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from configs.sections.recall import MeaningSettings
from memory.database import Database
from memory.meaning.meaning import read_vectors, signs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memory.meaning.meaning import Vector

Kind = Literal["lesson", "fact"]
Likenesses = dict[int, tuple[float, ...]]  # by item: cosine with each of its vectors, -1 to 1
# Beyond this many, a share of the bits picks those whose other bits are looked at.
_FEW: Final = 4096


@dataclass
class _Known:
    """What this process has read of one kind: the item and the signs of each row, in the order of ``seq``.

    ``words``: (64-bit words of a vector, rows), so that one word of all rows is read in a row.
    """

    last: int = 0
    items: list[NDArray[np.int64]] = field(default_factory=list)
    words: list[NDArray[np.uint64]] = field(default_factory=list)


class VectorIndex:
    """The table ``vectors`` of one file."""

    def __init__(self, database: Database, settings: MeaningSettings) -> None:
        self._database = database
        self._settings = settings
        self._known: dict[Kind, _Known] = {}
        self._lock = threading.Lock()

    def put(self, kind: Kind, item: int, blob: bytes, numbers: int) -> None:
        """Keep the vectors of an item that was due, unless it is gone meanwhile. ``numbers``: of one vector."""
        first = signs(read_vectors(blob, numbers)[0]).tobytes()
        with self._database.transaction():
            if self._database.run("DELETE FROM vectors_due WHERE kind = ? AND item = ?", (kind, item)):
                self._database.run(
                    "INSERT OR REPLACE INTO vectors (kind, item, signs, vector) VALUES (?, ?, ?, ?)",
                    (kind, item, first, blob),
                )

    def due(self, kind: Kind, most: int) -> list[int]:
        """Items that have no vectors yet, the latest first."""
        rows = self._database.rows(
            "SELECT item FROM vectors_due WHERE kind = ? ORDER BY item DESC LIMIT ?", (kind, most)
        )
        return [row["item"] for row in rows]

    def nearest(self, kind: Kind, question: Vector, most: int) -> Likenesses:
        """The ``most`` items whose first vector is nearest to a question's, with the likeness of all they hold."""
        import numpy as np

        items, words = self._all(kind)
        if not items.size:
            return {}
        asked = np.frombuffer(signs(question).tobytes(), dtype=np.uint64)
        rows = np.arange(items.size)
        if rows.size > _FEW:
            half = len(asked) // 2
            rows = _nearest(_distance(words[:half], asked[:half]), _FEW)
        rows = rows[_nearest(_distance(words[:, rows], asked), max(most, self._settings.compared))]
        found = self.at(kind, items[rows].tolist(), question)
        best = sorted(found, key=lambda item: (found[item][0], item), reverse=True)[:most]
        return {item: found[item] for item in best}

    def at(self, kind: Kind, items: Iterable[int], question: Vector) -> Likenesses:
        """The likenesses of those ``items`` that have vectors."""
        rows = self._database.rows(
            "SELECT item, vector FROM vectors WHERE kind = ? AND item IN (SELECT value FROM json_each(?))",
            (kind, json.dumps(list(items))),
        )
        if not rows:
            return {}
        # All of one kind hold as many vectors: one multiplication for all of them.
        parts = len(rows[0]["vector"]) // len(question)
        found = read_vectors(b"".join(row["vector"] for row in rows), len(question)) @ question
        return {row["item"]: tuple(each) for row, each in zip(rows, found.reshape(-1, parts).tolist(), strict=True)}

    def _all(self, kind: Kind) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """What is in the file by now, also from other processes; what was removed is found by nobody who reads it."""
        import numpy as np

        with self._lock:
            known = self._known.setdefault(kind, _Known())
            last: int = self._database.value("SELECT coalesce(max(seq), 0) FROM vectors")
            # By what is new (the + keeps SQLite from going through all of the kind by its index).
            rows = self._database.rows(
                "SELECT item, signs FROM vectors WHERE seq > ? AND seq <= ? AND +kind = ?", (known.last, last, kind)
            )
            known.last = last
            if rows:
                known.items.append(np.array([row["item"] for row in rows], dtype=np.int64))
                read = np.frombuffer(b"".join(row["signs"] for row in rows), dtype=np.uint64)
                known.words.append(np.ascontiguousarray(read.reshape(len(rows), -1).T))
            if len(known.items) > 1:
                known.items = [np.concatenate(known.items)]
                known.words = [np.concatenate(known.words, axis=1)]
            if not known.items:
                return np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=np.uint64)
            return known.items[0], known.words[0]


def _distance(words: NDArray[np.uint64], asked: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """In how many bits each of the columns differs from ``asked``."""
    import numpy as np

    different = np.zeros(words.shape[1], dtype=np.uint16)
    # Word by word: a sum over so short an axis takes ten times as long.
    for column, word in zip(words, asked, strict=True):
        different += np.bitwise_count(column ^ word)
    return different


def _nearest(distances: NDArray[np.uint16], most: int) -> NDArray[np.int64]:
    """Which are the ``most`` smallest, in no order."""
    import numpy as np

    if distances.size <= most:
        return np.arange(distances.size)
    found: NDArray[np.int64] = np.argpartition(distances, most)[:most]
    return found
