"""``python -m trainer.reading [--home H] [--seconds N] [--member ID] [--rules] [--now]
[--key]``: read what documents wait.

``--member``: the family's and this member's; everybody's by default. ``--rules``: without the model, and so without an
engine. ``--key``: what opens this member's encrypted file is the line on stdin: they are in, in the process that
started this one, and an engine that is started for them stays. What was done is told on stdout at the end, as one JSON
object: documents read, those that the model was asked about, problems, left to be read, members skipped, and the code
of what kept the model from being asked.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from configs.errors import EnlaceError
from configs.home import Home
from configs.settings import Settings, load_settings
from engine.answers import EngineStatus
from engine.catalogue import model_path
from engine.choice import open_engine
from engine.interface import Engine
from memory.errors import NoSnapshot
from memory.household import Household
from trainer.courtesy import Courtesy, die_with, step_back, wish_to_stop
from trainer.reading.asking import Asking
from trainer.reading.worker import ReadingWorker
from trainer.telling import tell_starter


def main(arguments: list[str]) -> int:
    """Exit codes: 0 done, 1 failed, 2 wrong usage. An error is one line of JSON on stderr: code, facts."""
    parser = argparse.ArgumentParser(prog="python -m trainer.reading")
    parser.add_argument("--home", type=Path, help="the household's folder (default: ENLACE_HOME)")
    parser.add_argument("--seconds", type=float, help="how long it may take")
    parser.add_argument("--member", help="read the family's documents and this member's (an id) alone")
    parser.add_argument("--rules", action="store_true", help="do not ask the model")
    parser.add_argument("--now", action="store_true", help="somebody waits for it: at the priority of what they do")
    parser.add_argument("--key", action="store_true", help="what opens this member's file is the line on stdin")
    parser.add_argument("--parent", type=int, help="end when this process, which started it, does")
    options = parser.parse_args(arguments)
    if options.parent is not None:
        die_with(options.parent)
    home = Home(options.home.absolute()) if options.home else Home.find(os.environ)
    wished = wish_to_stop()
    if not options.now:
        step_back()
    try:
        settings = load_settings(home, os.environ)
        with Household.open(home, settings.memory, unattended=True) as household:
            if options.key:
                household.doors.bring(household.members.get(options.member), sys.stdin.readline().strip())
            told = _read(household, settings, options, wished)
    except EnlaceError as error:
        return tell_starter(error)
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


def _read(
    household: Household, settings: Settings, options: argparse.Namespace, wished: Callable[[], bool]
) -> dict[str, object]:
    budget = settings.training.budget
    rest = Courtesy(household.home.busy_flag, longest=budget.busy_wait_seconds, poll=budget.busy_poll_seconds)
    members = [options.member] if options.member else [member.id for member in household.members.list()]
    worker = ReadingWorker(household, settings, members, wished, rest, options.seconds)
    worker.by_rules()
    problem = ""
    if not options.rules and settings.memory.documents.model and worker.wants_model():
        try:
            _by_model(household, settings, worker, stays=options.key)
        except EnlaceError as error:
            # What the rules have found is there; the model is asked another night.
            problem = error.code
    return {**asdict(worker.counts), "left": worker.left(), "skipped": len(worker.skipped), "problem": problem}


def _by_model(household: Household, settings: Settings, worker: ReadingWorker, *, stays: bool) -> None:
    """Have the model read, and end the engine that was started for it, but if it ``stays`` or somebody else asks it."""

    def snapshot() -> str:
        try:
            return household.snapshots.current().digest
        except NoSnapshot:
            name = settings.engine.model
            path = model_path(household.home, name)
            return household.snapshots.ensure_base(name, household.snapshots.file_digest(path)).digest

    engine = open_engine(household.home, settings.engine, snapshot, os.environ)
    own = settings.engine.server.kind == "own"
    ran = not own or asyncio.run(engine.status()) is not None
    try:
        worker.by_model(Asking(engine, settings, snapshot() if own else None, worker.stopped))
    finally:
        if not (ran or stays):
            asyncio.run(_free(engine))


async def _free(engine: Engine) -> None:
    """Have what the engine holds be there for the training."""
    status = await engine.status()
    if isinstance(status, EngineStatus) and not (status.busy or status.waiting):
        await engine.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
