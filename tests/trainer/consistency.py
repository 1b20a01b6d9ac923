"""Whether what a home's trainings left is all of a piece, whatever was killed in the midst of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import yaml

from configs.errors import EnlaceError
from configs.home import Home
from configs.settings import load_settings
from memory import runlog
from memory.household import Household
from memory.runs import LESSONS, run_folder
from trainer.night.markers import Markers


def contradictions(home: Home) -> list[str]:
    """What of a home in which nothing works right now is torn or contradicts itself, in words: nothing should be.

    Files that a killed process was still writing have names of their own, and are none of that.
    """
    with Household.open(home, load_settings(home, {}).memory) as household:
        return [
            *_torn(home),
            *_databases(home),
            *_markers(home),
            *_runs(household),
            *_members(household),
            *_snapshots(household),
        ]


def _torn(home: Home) -> Iterator[str]:
    for path in [path for folder in (home.runs, home.store / "made", home.cache) for path in folder.rglob("*")]:
        try:
            if path.suffix == ".json":
                json.loads(path.read_text(encoding="utf-8"))
            elif path.suffix == ".yaml":
                yaml.safe_load(path.read_text(encoding="utf-8"))
            elif path.name == runlog.FILE:
                unreadable = [event for event in runlog.read(path.parent)[0] if event.kind == "unreadable"]
                yield from (f"{path}: {event.facts}" for event in unreadable)
        except ValueError as error:
            yield f"{path}: {error}"


def _databases(home: Home) -> Iterator[str]:
    for path in (home.family_db, *home.members.glob("*.db")):
        connection = sqlite3.connect(path)
        found = connection.execute("PRAGMA integrity_check").fetchall()
        connection.close()
        if found != [("ok",)]:
            yield f"{path}: {found}"


def _markers(home: Home) -> Iterator[str]:
    markers = Markers(home.night, 120.0, lambda: 0.0).list() if home.night.is_dir() else []
    numbers = [marker.number for marker in markers]
    if len(set(numbers)) < len(numbers) or sum(marker.state != "completed" for marker in markers) > 1:
        yield f"markers: {[marker.path.name for marker in markers]}"


def _runs(household: Household) -> Iterator[str]:
    promoted = [move.why for move in household.snapshots.history() if move.why.startswith("run ")]
    runs = [run for run in household.runs.list(limit=10_000) if run.kind == LESSONS]
    for run in runs:
        moves = promoted.count(f"run {run.id}")
        if moves != (run.state == "shipped"):
            yield f"{run.id} is {run.state}, and was promoted {moves} times"
        if run.state == "running":
            yield f"{run.id} never ended"
        if (run_folder(household.home, run) / "manifest.yaml").is_file() and run.state not in ("shipped", "held"):
            yield f"{run.id} is {run.state}, and has a manifest"


def _members(household: Household) -> Iterator[str]:
    for member in household.members.list():
        for made in household.member(member.id).private.list():
            run = household.runs.get(made.run)
            if (run.state, run.snapshot) != ("shipped", made.id):
                yield f"{run.id} is {run.state}, and {made.id} of it answers {member.name}"


def _snapshots(household: Household) -> Iterator[str]:
    for stored in household.artifacts.objects():
        try:
            household.artifacts.verify(stored.digest)
        except EnlaceError as error:
            yield f"the store: {error}"
    for snapshot in household.snapshots.list():
        try:
            household.snapshots.whole(snapshot.id)
        except EnlaceError as error:
            yield f"{snapshot.id}: {error}"


def new_lessons(household: Household) -> list[frozenset[str]]:
    """Of each training that came to a verdict, the oldest first, those of its lessons that none before it had."""
    judged = [run for run in household.runs.list(limit=10_000)[::-1] if run.state in ("shipped", "held")]
    found: list[frozenset[str]] = []
    for run in judged:
        found.append(household.runs.lessons(run.id).difference(*found))
    return found


def files_left(folder: Path, pattern: str) -> list[Path]:
    """The files of this name below a folder."""
    return sorted(path for path in folder.rglob(pattern) if path.is_file())
