"""``enlace snapshots mirror``: the weights of the snapshots at another address too, and back from there."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from app.commands.errors import MirrorNotNamed
from app.commands.opening import open_session
from app.commands.options import JsonOption
from app.commands.output import write, write_json


def mirror(
    address: Annotated[str | None, typer.Argument(metavar="ADDRESS", help="command.mirror.address")] = None,
    fetch: Annotated[bool, typer.Option("--fetch", help="command.mirror.fetch")] = False,
    as_json: JsonOption = False,
) -> int:
    """Copy what the kept snapshots need to another address, or bring back from there what is missing here."""
    from memory.mirror import Mirror

    with open_session() as session:
        session.snapshot()
        household = session.household
        named = address or session.settings.memory.mirror
        if not named:
            raise MirrorNotNamed
        kept = (each for each in household.snapshots.list() if each.pruned_at is None)
        needed = dict.fromkeys(digest for snapshot in kept for digest in snapshot.objects)
        there = Mirror(session.home, household.artifacts, named)
        done = there.fetch(needed) if fetch else there.push(needed)
        if as_json:
            write_json(asdict(done))
        else:
            words = session.catalogue
            way = "fetched" if fetch else "pushed"
            write(words.text(f"command.mirror.{way}", copied=len(done.copied), there=len(done.there), address=named))
            if done.missing:
                write(words.count("command.mirror.missing", len(done.missing), address=named))
        return 1 if done.missing else 0
