"""``python -m trainer run [--home H] [--recipe NAME] [--who NAME]``: one run, to its verdict; then, in the background,
what it promoted is fitted to the form in which its model is served. With ``--member NAME``: one on that member's
private lessons, for them alone. ``python -m trainer fit [--home H]``: the fitting alone.
``python -m trainer blame RUN [--home H] [--who NAME]``: which lesson made the gate hold that run.
``python -m trainer rows [--home H] [--recipe NAME]``: what a run would train, one JSON object a line.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from dataclasses import asdict
from pathlib import Path

from configs.errors import EnlaceError
from configs.home import Home
from configs.settings import Settings, load_settings
from engine.catalogue import model_path
from memory.household import Household
from trainer.blame.carrying import carry_blame
from trainer.errors import TrainerError
from trainer.fitting.carrying import carry_fitting
from trainer.supervisor import as_line, carry

SHIPPED, HELD = 0, 3


def main(arguments: list[str]) -> int:
    """Exit codes: 0 shipped, 1 failed, 2 wrong usage, 3 held. An error is one line of JSON on stderr: code, facts."""
    parser = argparse.ArgumentParser(prog="python -m trainer")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="train on the shared lessons")
    run.add_argument("--member", help="train this member's private lessons (a name or an id), for them alone")
    fit = commands.add_parser("fit", help="fit the current snapshot to the form in which its model is served")
    blame = commands.add_parser("blame", help="find the lessons without which a held run would have passed")
    blame.add_argument("held", metavar="RUN", help="the run that was held, as r0003")
    rows = commands.add_parser("rows", help="write what would be trained, with the chat template applied")
    for each in (run, rows):
        each.add_argument("--recipe", help="a recipe of the settings' section training.recipes")
    for each in (run, blame):
        each.add_argument("--who", default="enlace", help="on whose behalf; kept with the run and its snapshot")
    for each in (run, fit, blame, rows):
        each.add_argument("--home", type=Path, help="the household's folder (default: ENLACE_HOME)")
    options = parser.parse_args(arguments)
    home = Home(options.home.absolute()) if options.home else Home.find(os.environ)
    try:
        settings = load_settings(home, os.environ)
        if options.command == "fit":
            return _fit(home, settings)
        if options.command == "blame":
            return _blame(home, settings, options.held, options.who)
        recipe = options.recipe or settings.training.recipe
        if options.command == "rows":
            return _rows(home, settings, recipe)
        outcome = carry(home, settings, recipe, options.who, options.member)
    except EnlaceError as error:
        return _told(error)
    except Exception as error:
        if options.command != "run" or options.member is None:
            raise
        # What goes on stderr comes into a log that is not this member's alone, and a message may hold their words.
        traceback.print_tb(error.__traceback__)
        return _told(TrainerError())
    sys.stdout.write(as_line(outcome) + "\n")
    sys.stdout.flush()
    if outcome.decision != "SHIP":
        return HELD
    if options.member is not None:
        # What the family is served has not changed.
        return SHIPPED
    try:
        carry_fitting(home, settings)
    except EnlaceError as error:
        # What was promoted answers already, with its adapters over the weights.
        _told(error)
    return SHIPPED


def _fit(home: Home, settings: Settings) -> int:
    record = carry_fitting(home, settings)
    sys.stdout.write(json.dumps(asdict(record) if record else None) + "\n")
    return 0


def _blame(home: Home, settings: Settings, held: str, who: str) -> int:
    sys.stdout.write(json.dumps(asdict(carry_blame(home, settings, held, who))) + "\n")
    return 0


def _rows(home: Home, settings: Settings, recipe: str) -> int:
    """The rows go to stdout; what is left out goes to stderr, as one line of JSON."""
    from trainer.dataset import training_lines

    with Household.open(home, settings.memory) as household:
        listed = household.snapshots.list()
        name = household.snapshots.current().base_name if listed else settings.engine.model
        lines, dropped = training_lines(model_path(home, name), settings, household, recipe)
    sys.stdout.buffer.writelines(f"{line}\n".encode(errors="replace") for line in lines)
    sys.stdout.buffer.flush()
    sys.stderr.write(json.dumps([asdict(each) for each in dropped]) + "\n")
    return 0


def _told(error: EnlaceError) -> int:
    sys.stderr.write(json.dumps({"code": error.code, "facts": error.facts}, ensure_ascii=False) + "\n")
    return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
