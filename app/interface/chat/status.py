"""The status line: only what is known to be so at this moment."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.interface.chat.bar import SEPARATOR
from engine.interface import ServerStatus
from memory import runlog
from memory.pausing import paused
from memory.runs import run_folder

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from app.interface.chat.talk import Progress
    from app.session import Session
    from memory.runs import Run

_ROUTES: Final = Path("/proc/net/route")
_ROUTES_IPV6: Final = Path("/proc/net/ipv6_route")


@dataclass(frozen=True)
class Facts:
    """What was found out. ``training``: 0 to 1 while a run is going that this member may see, else None.

    ``busy``: one is going that is another member's own, of which no more is known. ``paused``: trainings are.

    ``engine_runs``: whether something answers; where that is another server than the engine, ``server`` says which,
    and what is not known of it is None.
    """

    model: str | None
    snapshot: str | None
    engine_runs: bool
    network: bool
    training: float | None
    server: str | None = None
    busy: bool = False
    paused: bool = False


async def look(session: Session) -> Facts:
    """Ask the engine, the store and the system. Raises EnlaceError, MemberUnknown where the member was removed."""
    session.household.members.get(session.member.id)
    status = await session.engine.status()
    run = session.household.runs.running()
    current = session.snapshot()
    busy = run is not None and not run.is_for(session.member.id)
    training = None if run is None or busy else run_fraction(session, run)
    held = paused(session.home) is not None
    if isinstance(status, ServerStatus):
        # The name alone: the line is short, and `enlace engine status` says where it is.
        return Facts(status.model, status.snapshot, status.reachable, network_up(), training, status.kind, busy, held)
    return Facts(
        # The setting counts for a household's first snapshot only: what answers next is the current one's base.
        model=current.base_name if status is None else status.model,
        snapshot=current.id,
        engine_runs=status is not None,
        network=network_up(),
        training=training,
        busy=busy,
        paused=held,
    )


def run_fraction(session: Session, run: Run) -> float:
    """How much of a run is done, 0 to 1, by its own account."""
    events, _ = runlog.read(run_folder(session.home, run))
    return next((event.fraction for event in reversed(events) if event.fraction is not None), 0.0)


def network_up() -> bool:
    """Whether this machine has a way out: a default route. It says nothing about what answers at its end."""
    if sys.platform.startswith("linux"):
        return any(_has_default(path) for path in (_ROUTES, _ROUTES_IPV6))
    import psutil

    return any(stats.isup and not name.startswith("lo") for name, stats in psutil.net_if_stats().items())


def _has_default(path: Path) -> bool:
    try:
        rows = [line.split() for line in path.read_text().splitlines()]
    except OSError:
        return False
    if path == _ROUTES_IPV6:
        return any(row[0] == "0" * 32 and row[1] == "00" and row[-1] != "lo" for row in rows)
    return any(len(row) > 7 and row[1] == row[7] == "00000000" for row in rows[1:])


def sentence(facts: Facts | None, progress: Progress, catalogue: Catalogue) -> str:
    """The line, parts that are not known left out."""
    if facts is None:
        return catalogue.text("screen.status.opening")
    parts = [part for part in (facts.server, facts.model, facts.snapshot) if part]
    if progress.writing and not progress.tokens:
        ready = facts.engine_runs or facts.server
        parts.append(catalogue.text("screen.status.reading" if ready else "screen.status.engine_starting"))
    elif not facts.engine_runs:
        parts.append(catalogue.text("screen.status.server_away" if facts.server else "screen.status.engine_off"))
    if progress.context is not None:
        parts.append(catalogue.text("screen.status.context", percent=round(100 * progress.context)))
    if progress.speed is not None:
        parts.append(catalogue.text("screen.status.speed", number=round(progress.speed)))
    parts.append(catalogue.text("screen.status.network" if facts.network else "screen.status.no_network"))
    if facts.paused:
        parts.append(catalogue.text("screen.status.paused"))
    elif facts.busy:
        parts.append(catalogue.text("screen.status.busy"))
    elif facts.training is None:
        parts.append(catalogue.text("screen.status.resting"))
    else:
        parts.append(catalogue.text("screen.status.training", percent=round(100 * facts.training)))
    return SEPARATOR.join(parts)
