"""What is watched: files and folders that members have added."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from memory.clock import Clock
from memory.database import Database
from memory.text import storable
from memory.visibility import Visibility


@dataclass(frozen=True)
class Source:
    """A file or folder that is watched."""

    path: str
    kind: Literal["file", "folder"]
    visibility: Visibility
    added_by: str
    added_at: float


class Sources:
    """Of one database."""

    def __init__(self, database: Database, visibility: Visibility, clock: Clock) -> None:
        self._database = database
        self._visibility = visibility
        self._clock = clock

    def add(self, path: Path, member_id: str) -> Source:
        """Have a file, or all in a folder, read from now on. ``path`` is absolute."""
        kind: Literal["file", "folder"] = "folder" if path.is_dir() else "file"
        source = Source(storable(str(path)), kind, self._visibility, member_id, self._clock())
        self._database.run(
            "INSERT OR IGNORE INTO document_sources (path, kind, added_by, added_at) VALUES (?, ?, ?, ?)",
            (source.path, kind, member_id, source.added_at),
        )
        return source

    def list(self) -> list[Source]:
        """By path."""
        rows = self._database.rows("SELECT * FROM document_sources ORDER BY path")
        return [Source(row["path"], row["kind"], self._visibility, row["added_by"], row["added_at"]) for row in rows]
