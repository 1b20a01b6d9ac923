"""``enlace snapshots prune``: what nothing needs any more leaves the store, and what is damaged there is named."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from app.bytes_text import size_text
from app.commands.errors import ConfirmationMissing
from app.commands.opening import open_session
from app.commands.options import JsonOption, MemberOption, YesOption, confirm, moment
from app.commands.output import remark, write, write_json, write_table
from app.standing import adults_alone
from memory.errors import DatabaseReadOnly

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from app.catalogue import Catalogue
    from app.session import Session
    from memory.pruning import Fate, Pruning, Unsound
    from memory.snapshots import Snapshot


def prune(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="command.snapshots.prune.dry_run")] = False,
    keep: Annotated[int | None, typer.Option("--keep", min=1, help="command.snapshots.prune.keep")] = None,
    yes: YesOption = False,
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """Give up what no kept snapshot reaches; 1 where something that is needed is damaged or missing."""
    from engine.forms.keeping import forget_adapted, merged_weights

    with open_session(member=member) as session:
        if not dry_run:
            adults_alone(session)
        session.snapshot()
        pruner, home = session.household.pruner, session.home

        def made_of(snapshot: Snapshot) -> Collection[str]:
            return merged_weights(home, *_adapted(snapshot))

        served = _served(session)
        found = pruner.plan(made_of, served, keep)
        goes = bool(found.going or found.objects)
        if goes and not dry_run:
            words = session.catalogue
            if as_json and not yes:
                # What would go has no place before the JSON, and nobody is asked about what they were not shown.
                raise ConfirmationMissing
            if not as_json:
                _write_going(words, found)
            confirm(words.text("command.snapshots.prune.sure"), yes=yes)
            found = pruner.prune(
                made_of, served, keep, waits=lambda: remark(words.text("command.snapshots.prune.waits_for"))
            )
            try:
                forget_adapted(home, [_adapted(fate.snapshot) for fate in found.kept])
            except OSError as error:
                raise DatabaseReadOnly(path=str(error.filename), reason=error.strerror or str(error)) from error
        unsound = pruner.unsound(found)
        if as_json:
            write_json({"dry_run": dry_run, **_as_json(found), "unsound": [asdict(wrong) for wrong in unsound]})
        else:
            _write(session, found, unsound, goes=goes, dry_run=dry_run)
        return 1 if unsound else 0


def _adapted(snapshot: Snapshot) -> tuple[str, list[tuple[str, float]]]:
    return snapshot.base_sha256, [(each.sha256, each.scale) for each in snapshot.adapters]


def _served(session: Session) -> tuple[str, ...]:
    """What answers at this moment, where that is known: after a move, the engine is a question behind."""
    status = asyncio.run(session.engine.status())
    return (status.snapshot,) if status is not None and status.snapshot else ()


def _write(session: Session, found: Pruning, unsound: Sequence[Unsound], *, goes: bool, dry_run: bool) -> None:
    words = session.catalogue
    if not goes:
        write(words.text("command.snapshots.prune.nothing"))
    elif dry_run:
        _write_going(words, found)
    else:
        write(words.count("command.snapshots.prune.gone", len(found.objects), **_room(words, found)))
    if found.young:
        hours = f"{session.settings.memory.prune.grace_hours:g}"
        write(words.count("command.snapshots.prune.young", len(found.young), hours=hours))
    heads = [words.text(f"command.snapshots.heads.{name}") for name in ("id", "kept_because")]
    write_table(heads, [(fate.snapshot.id, words.text(f"command.snapshots.kept.{fate.why}")) for fate in found.kept])
    for fate in found.kept:
        if fate.taken_back:
            write(words.count("command.snapshots.prune.knows", len(fate.taken_back), snapshot=fate.snapshot.id))
    for wrong in unsound:
        facts = {"digest": wrong.digest, "path": wrong.path, "snapshots": ", ".join(wrong.snapshots)}
        write(words.text(f"command.snapshots.prune.{wrong.problem}", **facts))


def _write_going(words: Catalogue, found: Pruning) -> None:
    if found.going:
        write(words.text("command.snapshots.prune.would_go"))
        heads = [words.text(f"command.snapshots.heads.{name}") for name in ("id", "when", "frees", "learned")]
        write_table(heads, [_going(words, fate) for fate in found.going])
    write(words.count("command.snapshots.prune.objects", len(found.objects), **_room(words, found)))


def _going(words: Catalogue, fate: Fate) -> tuple[str, ...]:
    learned = words.count("command.snapshots.prune.withdrawn", len(fate.taken_back)) if fate.taken_back else ""
    return fate.snapshot.id, moment(fate.snapshot.created_at), size_text(words, fate.bytes), learned


def _room(words: Catalogue, found: Pruning) -> dict[str, object]:
    total = sum(stored.bytes for stored in found.objects)
    return {"size": size_text(words, total), "bytes": total}


def _as_json(found: Pruning) -> dict[str, object]:
    return {
        "going": [_told(fate) for fate in found.going],
        "kept": [_told(fate) for fate in found.kept],
        "objects": [asdict(stored) for stored in found.objects],
        "bytes": sum(stored.bytes for stored in found.objects),
        "young": [asdict(stored) for stored in found.young],
    }


def _told(fate: Fate) -> dict[str, object]:
    snapshot, taken_back = fate.snapshot, sorted(fate.taken_back)
    return {"snapshot": snapshot.id, "why": fate.why, "taken_back": taken_back, "bytes": fate.bytes}
