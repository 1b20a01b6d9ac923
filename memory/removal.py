"""What leaves the household's database with a member; each statement takes the member's id."""

from __future__ import annotations

from memory.recall_index import TABLES

# What lets them in to what is theirs.
OF_THE_DOOR = (
    "DELETE FROM pins WHERE member = ?",
    "DELETE FROM seals WHERE member = ?",
    "DELETE FROM wrong_tries WHERE member = ?",
)
REMOVAL = (
    *(
        f"DELETE FROM {table} WHERE kind = 'lesson' AND item IN (SELECT seq FROM lessons WHERE member = ?)"  # noqa: S608
        for table in TABLES
    ),
    *(
        f"DELETE FROM {table} WHERE kind = 'fact' AND item IN (SELECT seq FROM facts WHERE said_by = ?)"  # noqa: S608
        for table in TABLES
    ),
    "DELETE FROM lessons WHERE member = ?",
    "DELETE FROM facts WHERE said_by = ?",
    "DELETE FROM fact_acts WHERE member = ?",
    "DELETE FROM runs WHERE member = ?",
    *OF_THE_DOOR,
)
