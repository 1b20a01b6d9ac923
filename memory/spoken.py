"""The language of a member, of a household that nobody has opened here: read for what is said before that."""

from __future__ import annotations

import contextlib
import sqlite3

from configs.home import Home
from memory.text import fold, storable


def own_language(home: Home, member: str | None) -> str:
    """The language of the ``member`` of this name or id, of the first where there is none; empty where that is none of
    their own, or cannot be told. Nothing is made, changed or waited for.
    """
    path = home.family_db
    named = (storable(member or ""), fold(storable(member or "").strip()))
    asked = (
        "SELECT language FROM members WHERE removed_at IS NULL"
        " ORDER BY id = ? OR name_key = ? DESC, created_at, id LIMIT 1"
    )
    try:
        # With no journal beside it all is in the file, and as it lies it can be read without making one.
        lies = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{lies}", 0, uri=True)) as family:
            row = family.execute(asked, named).fetchone()
    except (sqlite3.Error, OSError, ValueError):
        # The home may be what is wrong, and what is told of.
        return ""
    return str(row[0]) if row else ""
