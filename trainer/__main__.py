"""``python -m trainer run [--home H] [--recipe NAME] [--who NAME]``: one run, to its verdict."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from configs.errors import EnlaceError
from configs.home import Home
from configs.settings import load_settings
from trainer.supervisor import as_line, carry

SHIPPED, HELD = 0, 3


def main(arguments: list[str]) -> int:
    """Exit codes: 0 shipped, 1 failed, 2 wrong usage, 3 held. An error is one line of JSON on stderr: code, facts."""
    parser = argparse.ArgumentParser(prog="python -m trainer")
    run = parser.add_subparsers(dest="command", required=True).add_parser("run", help="train on the shared lessons")
    run.add_argument("--home", type=Path, help="the household's folder (default: ENLACE_HOME)")
    run.add_argument("--recipe", help="a recipe of the settings' section training.recipes")
    run.add_argument("--who", default="enlace", help="on whose behalf; kept with the snapshot")
    options = parser.parse_args(arguments)
    home = Home(options.home.absolute()) if options.home else Home.find(os.environ)
    try:
        settings = load_settings(home, os.environ)
        outcome = carry(home, settings, options.recipe or settings.training.recipe, options.who)
    except EnlaceError as error:
        sys.stderr.write(json.dumps({"code": error.code, "facts": error.facts}, ensure_ascii=False) + "\n")
        return error.exit_code
    sys.stdout.write(as_line(outcome) + "\n")
    return SHIPPED if outcome.decision == "SHIP" else HELD


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
