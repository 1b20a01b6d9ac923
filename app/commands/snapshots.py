"""``enlace snapshots``: the weights that there are, and which ones answer."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.errors import OptionsApart
from app.commands.opening import open_session
from app.commands.options import JsonOption, MemberOption, group, moment
from app.commands.output import write, write_json, write_table
from app.commands.snapshots_compare import compare
from app.commands.snapshots_export import export
from app.commands.snapshots_mirror import mirror
from app.commands.snapshots_prune import prune
from app.commands.snapshots_show import ROW, row, show
from app.probation_text import gone, on_probation

if TYPE_CHECKING:
    from app.session import Session


def register(commands: typer.Typer) -> None:
    """Add the group ``snapshots``."""
    snapshots = group("snapshots")
    snapshots.command("list", help="command.snapshots.list")(list_snapshots)
    snapshots.command("show", help="command.snapshots.show.help")(show)
    snapshots.command("compare", help="command.snapshots.compare.help")(compare)
    snapshots.command("rollback", help="command.snapshots.rollback")(rollback)
    snapshots.command("export", help="command.snapshots.export.help")(export)
    snapshots.command("prune", help="command.snapshots.prune.help")(prune)
    snapshots.command("mirror", help="command.mirror.help")(mirror)
    commands.add_typer(snapshots)


def list_snapshots(as_json: JsonOption = False) -> int:
    """All snapshots, the newest first."""
    with open_session() as session:
        current = session.snapshot()
        found = session.household.snapshots.list()
        standing = session.household.probations.state()
        gone_back = [move for move in session.household.snapshots.history() if move.evidence]
        if as_json:
            on = {standing.snapshot: asdict(standing)} if standing else {}
            gone_from = {move.previous: asdict(move) for move in reversed(gone_back)}
            write_json(
                [
                    {
                        **asdict(snapshot),
                        "current": snapshot.id == current.id,
                        "probation": on.get(snapshot.id),
                        "gone_back": gone_from.get(snapshot.id),
                    }
                    for snapshot in found
                ]
            )
            return 0
        heads = [session.catalogue.text(f"command.snapshots.heads.{name}") for name in ROW]
        write_table(heads, [row(session, snapshot, current) for snapshot in found])
        if standing is not None:
            write(on_probation(session.catalogue, standing))
        for move in gone_back:
            write(f"{moment(move.at)}: {gone(session.catalogue, move)}")
        return 0


def rollback(
    to: Annotated[str | None, typer.Option("--to", help="command.snapshots.to")] = None,
    why: Annotated[str, typer.Option("--why", help="command.snapshots.why")] = "",
    mine: Annotated[bool, typer.Option("--mine", help="command.train.mine.rollback")] = False,
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """Let the snapshot before the current one answer again, or what the member alone was answered with before."""
    from app.commands.waiting import wait_for
    from app.going_back import go_back

    with open_session(member=member) as session:
        if mine:
            for option, given in (("--to", to), ("--why", why)):
                if given:
                    raise OptionsApart(option=option, other="--mine")
            return _rollback_mine(session, as_json=as_json)
        left = session.snapshot()
        look_s = session.settings.interface.status_seconds
        target = wait_for(go_back(session, why, to), session.engine, session.catalogue, look_s)
        if as_json:
            write_json({"snapshot": target.id, "previous": left.id})
        else:
            write(session.catalogue.text("command.snapshots.rolled_back", left=left.id, snapshot=target.id))
        return 0


def _rollback_mine(session: Session, *, as_json: bool) -> int:
    left, now = session.memory.private.rollback()
    if as_json:
        write_json({"adapter": now.id if now else None, "previous": left.id})
    else:
        key = "command.train.mine.rolled_back" if now else "command.train.mine.rolled_back_to_none"
        write(session.catalogue.text(key, left=left.id, adapter=now.id if now else ""))
    return 0
