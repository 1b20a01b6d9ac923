"""``enlace snapshots show``: who made a snapshot answer, when and why, what it learned, its numbers and its size."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from app.bytes_text import size_text
from app.commands.opening import open_session
from app.commands.options import JsonOption, moment, yes_no
from app.commands.output import write, write_json, write_table
from app.probation_text import gone

if TYPE_CHECKING:
    from app.session import Session
    from memory.moves import Move
    from memory.snapshots import Snapshot

# What a listing says of each snapshot.
ROW: Final = ("id", "current", "when", "parent", "run", "base", "reason")


def show(
    snapshot_id: Annotated[str | None, typer.Argument(help="command.snapshots.id")] = None,
    as_json: JsonOption = False,
) -> int:
    """One snapshot, the current one by default: its record, its lessons, and the numbers that it passed by."""
    from app.commands.verdict import write_checks

    with open_session() as session:
        current, snapshots = session.snapshot(), session.household.snapshots
        snapshot = snapshots.named(snapshot_id) if snapshot_id else current
        # One that it was gone back from by itself is in the log of both.
        moves = [
            move
            for move in snapshots.history()
            if move.snapshot == snapshot.id or (move.evidence and move.previous == snapshot.id)
        ]
        learned, taken_back = _lessons(session, snapshot)
        state, size = _stored(session, snapshot)
        if as_json:
            told = {"current": snapshot.id == current.id, "moves": [asdict(move) for move in moves]}
            facts = {"lessons": learned, "taken_back": taken_back, "state": state, "bytes": size}
            write_json({**asdict(snapshot), **told, **facts})
            return 0
        words = session.catalogue
        lines = list(zip(ROW, row(session, snapshot, current), strict=True))
        lines += [("size", size_text(words, size)), ("state", _state(session, snapshot, state))]
        lines += [("move", _move(session, move)) for move in moves]
        heads = [words.text(f"command.snapshots.heads.{name}") for name in ("what", "value")]
        write_table(heads, [(words.text(f"command.snapshots.heads.{name}"), value) for name, value in lines])
        if snapshot.run is not None:
            write(words.count("command.snapshots.show.learned", len(learned) + len(taken_back)))
        for lesson in learned:
            write(words.text("command.snapshots.show.lesson", question=lesson["question"], chosen=lesson["chosen"]))
        if taken_back:
            write(words.count("command.snapshots.show.taken_back", len(taken_back)))
        if snapshot.gate:
            write_checks(words, snapshot.gate)
        return 0


def row(session: Session, snapshot: Snapshot, current: Snapshot) -> tuple[str, ...]:
    """A snapshot's values for ``ROW``."""
    reason = f"command.snapshots.reasons.{snapshot.reason}"
    answers = yes_no(session.catalogue, snapshot.id == current.id)
    return (
        snapshot.id,
        answers if snapshot.pruned_at is None else session.catalogue.text("command.snapshots.given_up"),
        moment(snapshot.created_at),
        snapshot.parent or "—",
        snapshot.run or "—",
        snapshot.base_name,
        session.catalogue.text(reason) if session.catalogue.has(reason) else snapshot.reason,
    )


def _lessons(session: Session, snapshot: Snapshot) -> tuple[list[dict[str, Any]], list[str]]:
    """The lessons that it learned and that are taught still, and the ids of the others, whose words nobody is told."""
    runs = session.household.runs
    given = runs.lessons(snapshot.run) if snapshot.run else frozenset()
    taken_back = runs.taken_back().get(snapshot.run or "", frozenset())
    taught = [session.memory.lessons.get(lesson) for lesson in sorted(given - taken_back)]
    learned = [
        {"id": each.id, "question": each.question, "chosen": each.chosen} for each in taught if each.source != "thumb"
    ]
    return learned, sorted(taken_back)


def _stored(session: Session, snapshot: Snapshot) -> tuple[str, int]:
    """``whole``, ``damaged``, ``missing`` or ``given_up``, and the bytes that the store holds for it."""
    from memory.errors import ArtifactDamaged, ArtifactMissing

    artifacts = session.household.artifacts
    size, state = 0, "whole"
    for digest in snapshot.objects:
        try:
            size += artifacts.path(digest).stat().st_size
            artifacts.verify(digest)
        except ArtifactDamaged:
            state = "damaged"
        except ArtifactMissing:
            state = "missing"
    return ("given_up" if snapshot.pruned_at is not None else state), size


def _state(session: Session, snapshot: Snapshot, state: str) -> str:
    when = moment(snapshot.pruned_at) if snapshot.pruned_at is not None else ""
    return session.catalogue.text(f"command.snapshots.states.{state}", when=when)


def _move(session: Session, move: Move) -> str:
    if move.evidence:
        return f"{moment(move.at)}, {move.who}: {gone(session.catalogue, move)}"
    facts = {"when": moment(move.at), "who": move.who, "why": move.why or "—", "previous": move.previous or "—"}
    return session.catalogue.text(f"command.snapshots.moves.{move.kind}", **facts)
