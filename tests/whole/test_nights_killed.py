"""kill -9 of whoever begins trainings, of a training and of its stages, at random instants of many nights.

SOAK_KILLS says how many of them there are, SOAK_SEED at which moments; a failure tells the seed that it was with.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psutil
import pytest

from configs.home import Home
from configs.settings import Settings, load_settings
from memory.household import Household
from tests.project import ROOT
from tests.trainer.consistency import contradictions, files_left, new_lessons
from tests.trainer.household import events, wait_for
from tests.whole.tiny_family import PAIRS, choose, correct, move_in
from trainer.night.markers import Markers
from trainer.plan import STAGES

KILLS = int(os.environ.get("SOAK_KILLS", "200"))
SEED = int(os.environ.get("SOAK_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
# A night takes some fifteen seconds on a machine with nothing else to do.
LONGEST_NIGHT_S = 600
LONGEST_WAIT_S = 12.0
SOON_S = 0.4
# What a training tells at moments that are soon over, and where half of something may be on record.
MOMENTS = ("run_started", "planned", "taken_up", "stage_started", "stage_done", "verdict", "promoted")
POLL_S = 0.01
HELD_OF_TEN = 3
# Whom it hits: the scheduler, the training, one of its stages, or the first two at once, as where the power goes.
HIT = ("scheduler", "supervisor", "worker", "all")


class Nights:
    """A family that teaches as soon as there is nothing left to train, and a hand that kills."""

    def __init__(self, home: Home, chance: random.Random) -> None:
        self.home = home
        self.chance = chance
        self.taught: set[str] = set()
        self.hits: list[str] = []
        self._log = home.root.with_name("scheduler.log")

    @contextmanager
    def scheduler(self) -> Iterator[None]:
        """One runs for the length of the block, and ends in order with it."""
        self._scheduler = self._start()
        try:
            yield
        finally:
            self._scheduler.terminate()
            self._scheduler.wait(LONGEST_NIGHT_S)

    def said(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "trainer.night", "run", "--home", str(self.home.root)]
        with self._log.open("ab") as output:
            return subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output)

    def settings(self) -> Settings:
        return load_settings(self.home, {})

    def teach_if_all_was_trained(self) -> None:
        with Household.open(self.home, self.settings().memory) as household:
            if household.lessons_unjudged() or household.runs.running():
                return
            choose(self.home, lets_pass=self.chance.randrange(10) >= HELD_OF_TEN)
            for _ in range(PAIRS):
                self.taught.add(correct(household, len(self.taught) + 1))

    def kill_one(self) -> None:
        """Wait for a moment of a night, and kill somebody in it."""
        self.teach_if_all_was_trained()
        if self.chance.random() < 0.5:
            time.sleep(self.chance.random() * LONGEST_WAIT_S)
        else:
            self._wait_for(self.chance.choice(MOMENTS))
            time.sleep(self.chance.random() * SOON_S)
        who = self.chance.choice(HIT)
        found = self._found(who)
        for process in found:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self.hits += [who] if found else []
        if self._scheduler.poll() is not None:
            self._scheduler = self._start()

    def _wait_for(self, kind: str) -> None:
        """Until a training tells something of this kind, or a night is over."""
        told, deadline = self._told(), time.monotonic() + LONGEST_WAIT_S * 2
        while time.monotonic() < deadline:
            now = self._told()
            if any(event.kind == kind for event in now[len(told) if now[: len(told)] == told else 0 :]):
                return
            time.sleep(POLL_S)

    def _told(self) -> list[Any]:
        return events(self.home) if any(self.home.runs.iterdir()) else []

    def _found(self, who: str) -> list[psutil.Process]:
        scheduler = psutil.Process(self._scheduler.pid)
        supervisors = [each for each in self._ours() if each.cmdline()[1:4] == ["-m", "trainer", "run"]]
        if who == "worker":
            return [child for each in supervisors for child in each.children() if "trainer.worker" in child.cmdline()]
        return {"scheduler": [scheduler], "supervisor": supervisors, "all": [scheduler, *supervisors]}[who]

    def _ours(self) -> Iterator[psutil.Process]:
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if str(self.home.root) in process.cmdline():
                    yield process

    def wait_until_all_was_trained(self) -> None:
        deadline = time.monotonic() + LONGEST_NIGHT_S
        while time.monotonic() < deadline:
            with Household.open(self.home, self.settings().memory) as household:
                if not household.lessons_unjudged() and not household.runs.running() and self.markers_completed():
                    return
            assert self._scheduler.poll() is None, self.said()
            time.sleep(0.5)
        raise AssertionError(f"a night does not end: {[event.kind for event in self._told()]}\n{self.said()[-4000:]}")

    def markers_completed(self) -> bool:
        return Markers(self.home.night, 120.0, time.monotonic).open() is None


@pytest.mark.soak
@pytest.mark.timeout(600 + 60 * KILLS)
def test_no_pair_is_trained_twice_or_lost_and_every_training_ends_however_often_one_is_killed(home: Home) -> None:
    print(f"seed {SEED}")  # noqa: T201
    move_in(home)
    nights = Nights(home, random.Random(SEED))
    with nights.scheduler():
        while len(nights.hits) < KILLS:
            nights.kill_one()
        nights.wait_until_all_was_trained()
    # One whose scheduler was killed is still leaving its report, and nobody waits for it.
    wait_for(lambda: not list(nights._ours()), LONGEST_NIGHT_S)
    assert contradictions(home) == []
    with Household.open(home, nights.settings().memory) as household:
        new = new_lessons(household)
        states = [run.state for run in household.runs.list(limit=10_000)]
    print(f"{ {who: nights.hits.count(who) for who in HIT} }, {len(new)} nights, {len(states)} trainings")  # noqa: T201
    assert frozenset().union(*new) == nights.taught
    # Each night trained what no night before it had: none of them was done a second time.
    assert all(new)
    assert len(new) == len(nights.taught) // PAIRS
    assert Markers(home.night, 120.0, time.monotonic).list()[-1].number == len(new)
    assert set(states) <= {"shipped", "held", "stopped", "failed"}
    assert states.count("failed") <= nights.hits.count("worker")
    # A training that came to its verdict has no use for its checkpoints, nor has one that nobody goes on with.
    assert files_left(home.runs, "checkpoint-*") == []
    judged = [folder.parent for folder in files_left(home.runs, "manifest.yaml")]
    assert len(judged) >= len(new) - 1, "only of the last one a manifest may be missing"
    assert all((folder / stage / "report.json").is_file() for folder in judged for stage in STAGES)
    assert "Traceback" not in nights.said()
    assert "Traceback" not in home.trainer_log.read_text(encoding="utf-8")
