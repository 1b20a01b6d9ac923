"""From the command to the first screen, in a real terminal, beside ``elia``."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from statistics import median

from app.catalogue import Catalogue, choose_language
from benchmarks.errors import MeasurementFailed, PeerMissing
from benchmarks.harness import without_peer
from benchmarks.homes import clean_environment, enlace, temporary_home
from benchmarks.measures import side_by_side
from benchmarks.peers.environments import peer
from benchmarks.plan import Plan
from benchmarks.pseudo_terminal import Terminal
from benchmarks.rows import Row, row

BOUND = 0.8
RUN_BOUND_S = 2.0
MAKE_RUN = ["make", "-s", "-C", str(Path(__file__).resolve().parent.parent), "run"]
PEER = "elia"
PEERS_COMPOSER = "Enter your message"


def start(plan: Plan) -> list[Row]:
    """Seconds until the composer stands on the screen: in a home that was opened before, and in a fresh one."""
    limit, rounds = plan.interface.timeout_s, plan.interface.start_rounds
    notes: list[str] = []
    with temporary_home() as home, tempfile.TemporaryDirectory(prefix="enlace-elia-") as folder:
        ours = partial(_painted, enlace(), home, _composer(home), limit)
        theirs = None
        with without_peer(notes):
            theirs = partial(_elia, [peer("elia").command("elia")], _elia_environment(folder), limit)
            theirs(-1)
        mine, other = side_by_side(ours, theirs, rounds)
        value = median(other) if other else None
        made = [_painted(MAKE_RUN, home, _composer(home), limit, number) for number in range(rounds)]
    fresh = [_in_a_fresh_home(limit) for _ in range(rounds)]
    return [
        row(
            "from command to first screen",
            median(mine),
            "s",
            peer=PEER,
            peer_value=value,
            bound=BOUND,
            samples=rounds,
            note=" ".join(notes),
        ),
        row("from command to first screen, fresh home", median(fresh), "s", samples=rounds),
        row(
            "from make run to first screen",
            median(made),
            "s",
            bound=RUN_BOUND_S,
            bound_on="value",
            samples=rounds,
            note="Set up before, in a home that was opened before.",
        ),
    ]


def _in_a_fresh_home(limit: float) -> float:
    with temporary_home() as home:
        return _painted(enlace(), home, _composer(home), limit, 0)


def _painted(command: list[str], environment: dict[str, str], text: str, limit: float, number: int) -> float:
    with Terminal(command, environment) as terminal:
        return terminal.wait_for(text, limit)


def _elia(command: list[str], environment: dict[str, str], limit: float, number: int) -> float:
    try:
        return _painted(command, environment, PEERS_COMPOSER, limit, number)
    except MeasurementFailed as error:
        raise PeerMissing(f"The peer elia does not start here. {error}") from error


def _elia_environment(folder: str) -> dict[str, str]:
    """A household of elia's own; without the table of prices that its library would fetch at start."""
    own = {"XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return clean_environment() | own


def _composer(environment: dict[str, str]) -> str:
    """What Enlace's empty composer says, in the language that this environment gets."""
    return Catalogue(choose_language(environ=environment)).text("screen.write_here")
