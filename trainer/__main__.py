"""``python -m trainer run [--home H] [--recipe NAME] [--who NAME]``: one run, to its verdict; then, in the background,
what it promoted is fitted to the form in which its model is served. ``python -m trainer fit [--home H]``: that alone.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from configs.errors import EnlaceError
from configs.home import Home
from configs.settings import Settings, load_settings
from trainer.fitting.carrying import carry_fitting
from trainer.supervisor import as_line, carry

SHIPPED, HELD = 0, 3


def main(arguments: list[str]) -> int:
    """Exit codes: 0 shipped, 1 failed, 2 wrong usage, 3 held. An error is one line of JSON on stderr: code, facts."""
    parser = argparse.ArgumentParser(prog="python -m trainer")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="train on the shared lessons")
    run.add_argument("--recipe", help="a recipe of the settings' section training.recipes")
    run.add_argument("--who", default="enlace", help="on whose behalf; kept with the snapshot")
    fit = commands.add_parser("fit", help="fit the current snapshot to the form in which its model is served")
    for each in (run, fit):
        each.add_argument("--home", type=Path, help="the household's folder (default: ENLACE_HOME)")
    options = parser.parse_args(arguments)
    home = Home(options.home.absolute()) if options.home else Home.find(os.environ)
    try:
        settings = load_settings(home, os.environ)
        if options.command == "fit":
            return _fit(home, settings)
        outcome = carry(home, settings, options.recipe or settings.training.recipe, options.who)
    except EnlaceError as error:
        return _told(error)
    sys.stdout.write(as_line(outcome) + "\n")
    sys.stdout.flush()
    if outcome.decision != "SHIP":
        return HELD
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


def _told(error: EnlaceError) -> int:
    sys.stderr.write(json.dumps({"code": error.code, "facts": error.facts}, ensure_ascii=False) + "\n")
    return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
