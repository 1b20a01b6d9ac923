"""``python -m trainer.night run [--home H] [--parent PID]``: begin trainings by itself until it is stopped, or process
PID is gone. ``once``: look once, and carry out what is due. ``status``: one line of JSON that says how things stand.

What happens is told on stdout as it does, one JSON object a line with its ``kind``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from configs.errors import EnlaceError
from configs.home import Home
from trainer.courtesy import die_with, stop_on_signals
from trainer.night.scheduler import Scheduler, runs_in
from trainer.night.stopping import Stopping
from trainer.telling import tell_starter


def main(arguments: list[str]) -> int:
    """Exit codes: 0 done, 1 failed, 2 wrong usage. An error is one line of JSON on stderr: code, facts."""
    parser = argparse.ArgumentParser(prog="python -m trainer.night")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="begin trainings by itself, until it is stopped")
    run.add_argument("--parent", type=int, help="end when this process, which started it, does")
    once = commands.add_parser("once", help="look once, and carry out what is due and may begin")
    status = commands.add_parser("status", help="say how things stand")
    for each in (run, once, status):
        each.add_argument("--home", type=Path, help="the household's folder (default: ENLACE_HOME)")
    options = parser.parse_args(arguments)
    if options.command == "run" and options.parent is not None:
        die_with(options.parent)
    home = Home(options.home.absolute()) if options.home else Home.find(os.environ)
    stopping = Stopping()
    try:
        scheduler = Scheduler(home, os.environ, stopping, tell)
        if options.command == "status":
            sys.stdout.write(json.dumps({**asdict(scheduler.state()), "scheduler": runs_in(home)}) + "\n")
            return 0
        stop_on_signals(stopping.stop)
        (scheduler.run if options.command == "run" else scheduler.once)()
    except EnlaceError as error:
        return tell_starter(error)
    return 0


def tell(kind: str, facts: Mapping[str, Any]) -> None:
    """Say what happens."""
    sys.stdout.write(json.dumps({"kind": kind, **facts}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
