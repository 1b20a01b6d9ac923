"""Pruning beside a trainer that stores, and after a kill -9: nothing that is needed is ever gone."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Callable
from pathlib import Path

from configs.home import Home
from configs.settings import Settings, load_settings
from memory.household import Household
from memory.manifests import Adapter
from memory.runs import LESSONS
from memory.snapshots import Snapshot

BASE = "ab" * 32
NIGHTS = 40
KILLS = 3


def nothing_more(_snapshot: Snapshot) -> tuple[str, ...]:
    return ()


def prunes(root: Path, rounds: Path) -> None:
    """Prunes for ever, and notes each time that it did."""
    home = Home(root)
    household = Household.open(home, load_settings(home, {}).memory)
    with rounds.open("a", encoding="utf-8") as noted:
        while True:
            household.pruner.prune(nothing_more, kept=1)
            print("pruned", file=noted, flush=True)


def night(household: Household, weights: bytes) -> Snapshot:
    """What a training does with its weights in the end, while it is under way."""
    run = household.runs.create(LESSONS)
    adapter = Adapter(household.artifacts.put_bytes(weights))
    parent = household.snapshots.current().id
    made = household.snapshots.create(
        "base", BASE, adapters=[adapter], parent=parent, run=run.id, reason="training", gate=None
    )
    household.snapshots.promote(made.id, "night", "passed")
    household.runs.finish(run.id, "shipped", snapshot=made.id)
    return made


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_trainings_that_come_to_the_same_weights_again_lose_none_of_them(home: Home, settings: Settings) -> None:
    rounds = home.root / "rounds.txt"
    rounds.touch()
    with Household.open(home, settings.memory) as household:
        household.snapshots.ensure_base("base", BASE)
        child = multiprocessing.get_context("spawn").Process(target=prunes, args=(home.root, rounds))
        child.start()
        try:
            wait_for(lambda: rounds.stat().st_size > 0)
            for number in range(NIGHTS):
                made = night(household, b"weights %d" % (number % 4))
                assert household.snapshots.whole(made.id) == household.snapshots.current()
        finally:
            child.kill()
            child.join(30)
        assert household.pruner.unsound(household.pruner.prune(nothing_more, kept=1)) == []
        given_up = [each for each in household.snapshots.list() if each.pruned_at is not None]
        assert len(given_up) > NIGHTS / 2


def test_a_prune_that_is_killed_leaves_all_that_is_kept_and_the_next_one_ends_it(
    home: Home, settings: Settings
) -> None:
    waits = random.Random(11)
    with Household.open(home, settings.memory) as household:
        household.snapshots.ensure_base("base", BASE)
        for kill in range(KILLS):
            for number in range(10):
                night(household, waits.randbytes(2_000 + number))
            child = multiprocessing.get_context("spawn").Process(target=prunes, args=(home.root, home.root / str(kill)))
            child.start()
            # Its records come first: from then on it removes.
            wait_for(lambda: household.snapshots.rollback_targets()[1:2] == [household.snapshots.get("v0")])
            time.sleep(waits.random() * 0.005)
            child.kill()
            child.join(30)
            done = household.pruner.prune(nothing_more, kept=1)
            assert (done.going, household.pruner.unsound(done)) == ((), [])
            again = household.pruner.plan(nothing_more, kept=1)
            assert (again.objects, again.young) == ((), ())
