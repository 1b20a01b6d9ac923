"""``python -m trainer run [--home H] [--recipe NAME] [--who NAME]``: one run, to its verdict; then, in the background,
what it promoted is fitted to the form in which its model is served. With ``--member NAME``: one on that member's
private lessons, for them alone. ``python -m trainer fit [--home H]``: the fitting alone.
``python -m trainer blame RUN [--home H] [--who NAME]``: which lesson made the gate hold that run.
``python -m trainer ship RUN --why TEXT [--home H] [--who NAME]``: that run answers although the gate held it.
``python -m trainer rows [--home H] [--recipe NAME]``: what a run would train, one JSON object a line.
``python -m trainer plan [FILE] [--home H] [--recipe NAME]``: what a run would be, by a recipe's file or a manifest.
``python -m trainer run FILE``: the run that a manifest asks for; ``reproduce FILE``: the same again, to compare;
``gate FILE``: the verdict on what a manifest measured. ``contradictions``: what members answer in different ways.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from configs.errors import EnlaceError
from configs.home import Home
from configs.settings import Settings, load_settings
from engine.catalogue import model_path
from memory.household import Household
from trainer.errors import TrainerError
from trainer.telling import tell_starter

SHIPPED, HELD = 0, 3


def main(arguments: list[str]) -> int:
    """Exit codes: 0 shipped, 1 failed, 2 wrong usage, 3 held. An error is one line of JSON on stderr: code, facts."""
    parser = argparse.ArgumentParser(prog="python -m trainer")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="train on the shared lessons")
    run.add_argument("file", metavar="FILE", nargs="?", type=Path, help="a manifest: exactly what it asks for")
    run.add_argument("--member", help="train this member's private lessons (a name or an id), for them alone")
    fit = commands.add_parser("fit", help="fit the current snapshot to the form in which its model is served")
    blame = commands.add_parser("blame", help="find the lessons without which a held run would have passed")
    ship = commands.add_parser("ship", help="have a held run answer all the same")
    ship.add_argument("--why", required=True, help="why; kept with the run and its snapshot")
    for each in (blame, ship):
        each.add_argument("held", metavar="RUN", help="the run that was held, as r0003")
    rows = commands.add_parser("rows", help="write what would be trained, with the chat template applied")
    plan = commands.add_parser("plan", help="write what a run would be, and what speaks against it")
    plan.add_argument("file", metavar="FILE", nargs="?", type=Path, help="a recipe's file, or a manifest")
    reproduce = commands.add_parser("reproduce", help="do a run again from its manifest, and compare")
    gate = commands.add_parser("gate", help="judge what a manifest measured")
    contradicted = commands.add_parser("contradictions", help="write what members answer in different ways")
    for each in (reproduce, gate):
        each.add_argument("file", metavar="FILE", type=Path, help="the manifest of a run that came to its verdict")
    for each in (run, rows, plan):
        each.add_argument("--recipe", help="a recipe of the settings' section training.recipes")
    for each in (run, blame, ship, reproduce):
        each.add_argument("--who", default="enlace", help="on whose behalf; kept with the run and its snapshot")
    for each in (run, fit, blame, ship, rows, plan, reproduce, gate, contradicted):
        each.add_argument("--home", type=Path, help="the household's folder (default: ENLACE_HOME)")
    options = parser.parse_args(arguments)
    home = Home(options.home.absolute()) if options.home else Home.find(os.environ)
    try:
        settings = load_settings(home, os.environ)
        return COMMANDS[options.command](home, settings, options)
    except EnlaceError as error:
        return tell_starter(error)
    except Exception as error:
        if options.command != "run" or options.member is None:
            raise
        # What goes on stderr comes into a log that is not this member's alone, and a message may hold their words.
        traceback.print_tb(error.__traceback__)
        return tell_starter(TrainerError())


def _run(home: Home, settings: Settings, options: argparse.Namespace) -> int:
    from trainer.fitting.carrying import carry_fitting
    from trainer.pipeline.asked import carry_manifest
    from trainer.supervisor import as_line, carry

    if options.file:
        outcome, carried = carry_manifest(home, settings, options.file.absolute(), options.who, os.environ)
    else:
        recipe = options.recipe or settings.training.recipe
        outcome, carried = carry(home, settings, recipe, options.who, options.member), True
    sys.stdout.write(as_line(outcome) + "\n")
    sys.stdout.flush()
    if outcome.decision != "SHIP":
        return HELD
    if options.member is not None or not carried:
        # What the family is served has not changed.
        return SHIPPED
    try:
        carry_fitting(home, settings)
    except EnlaceError as error:
        # What was promoted answers already, with its adapters over the weights.
        tell_starter(error)
    return SHIPPED


def _plan(home: Home, settings: Settings, options: argparse.Namespace) -> int:
    from trainer.pipeline.planning import plan_file, plan_recipe
    from trainer.pipeline.recipe_file import WrittenRecipe
    from trainer.pipeline.usual import USUAL

    with Household.open(home, settings.memory, unattended=True) as household:
        if options.file:
            plan = plan_file(home, settings, household, options.file.absolute(), os.environ)
        else:
            recipe = WrittenRecipe(options.recipe or settings.training.recipe, settings, USUAL)
            plan = plan_recipe(home, settings, household, recipe)
    sys.stdout.write(json.dumps(plan.as_json(), ensure_ascii=False) + "\n")
    return 0


def _reproduce(home: Home, settings: Settings, options: argparse.Namespace) -> int:
    from trainer.pipeline.reproducing import carry_reproduction

    told = carry_reproduction(home, settings, options.file.absolute(), options.who, os.environ)
    sys.stdout.write(json.dumps(told) + "\n")
    return 0 if told["reproduced"] else 1


def _gate(home: Home, settings: Settings, options: argparse.Namespace) -> int:
    from trainer.pipeline.judged import judged

    verdict = judged(options.file.absolute(), home, os.environ)
    sys.stdout.write(json.dumps(verdict.as_json()) + "\n")
    return SHIPPED if verdict.decision == "SHIP" else HELD


def _fit(home: Home, settings: Settings, options: argparse.Namespace) -> int:
    from trainer.fitting.carrying import carry_fitting

    record = carry_fitting(home, settings)
    sys.stdout.write(json.dumps(asdict(record) if record else None) + "\n")
    return 0


def _blame(home: Home, settings: Settings, options: argparse.Namespace) -> int:
    from trainer.blame.carrying import carry_blame

    sys.stdout.write(json.dumps(asdict(carry_blame(home, settings, options.held, options.who))) + "\n")
    return 0


def _ship(home: Home, settings: Settings, options: argparse.Namespace) -> int:
    from trainer.overriding import ship_held

    with Household.open(home, settings.memory, unattended=True) as household:
        snapshot = ship_held(home, settings, household, options.held, options.who, options.why, time.time)
    sys.stdout.write(json.dumps({"run": options.held, "snapshot": snapshot}) + "\n")
    return SHIPPED


def _rows(home: Home, settings: Settings, options: argparse.Namespace) -> int:
    """The rows go to stdout; what is left out goes to stderr, as one line of JSON."""
    from trainer.dataset import training_lines

    recipe = options.recipe or settings.training.recipe
    with Household.open(home, settings.memory, unattended=True) as household:
        listed = household.snapshots.list()
        name = household.snapshots.current().base_name if listed else settings.engine.model
        lines, dropped = training_lines(model_path(home, name), settings, household, recipe)
    sys.stdout.buffer.writelines(f"{line}\n".encode(errors="replace") for line in lines)
    sys.stdout.buffer.flush()
    sys.stderr.write(json.dumps([asdict(each) for each in dropped]) + "\n")
    return 0


def _contradictions(home: Home, settings: Settings, options: argparse.Namespace) -> int:
    from trainer.beginning import known_recipe
    from trainer.contradictions import contradictions

    with Household.open(home, settings.memory, unattended=True) as household:
        found = contradictions(household, settings.training.defence, known_recipe(settings, settings.training.recipe))
    sys.stdout.write(json.dumps([asdict(each) for each in found]) + "\n")
    return 0


COMMANDS: Mapping[str, Callable[[Home, Settings, argparse.Namespace], int]] = {
    "run": _run,
    "fit": _fit,
    "blame": _blame,
    "rows": _rows,
    "plan": _plan,
    "reproduce": _reproduce,
    "gate": _gate,
    "contradictions": _contradictions,
    "ship": _ship,
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
