"""A training that is killed goes on where it was, and ends with the same weights, bit for bit."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from configs.home import Home
from memory import runlog
from tests.project import ROOT
from tests.trainer.killed_training import LESSONS, LOST, STEPS, prepared_run
from trainer.model.compiled import compiled
from trainer.model.frozen import Dense
from trainer.model.log_probs import TargetLogProbs
from trainer.run_files import RunFiles, read_json


def trained(*trainings: tuple[RunFiles, int]) -> list[bool]:
    """Train these one after another, each in a process of its own, up to the micro-step of that number (0: to the end).

    Says of each whether it came to its end.
    """
    return [statuses == [0] for statuses in endings(*((files, at, 1) for files, at in trainings))]


def endings(*trainings: tuple[RunFiles, int, int]) -> list[list[int]]:
    """The same, each in so many processes, of which the last is killed: the exit statuses of each training's."""
    told = [f"{files.folder}:{at}:{count}" for files, at, count in trainings]
    ended = subprocess.run(
        [sys.executable, "-m", "tests.trainer.killed_training", *told],
        cwd=ROOT,
        env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"},
        capture_output=True,
        text=True,
        check=True,
    )
    statuses: list[list[int]] = json.loads(ended.stdout)
    assert {status for each in statuses for status in each} <= {0, -signal.SIGKILL, LOST}, ended.stderr
    return statuses


def steps(files: RunFiles) -> list[dict[str, Any]]:
    """What was told of each step, in the order in which it was told."""
    return [dict(event.facts or {}) for event in runlog.read(files.folder)[0] if event.kind == "step"]


def resumed_at(files: RunFiles) -> list[int]:
    facts = [event.facts or {} for event in runlog.read(files.folder)[0] if event.kind == "progress"]
    return [fact["resumed_at_step"] for fact in facts if "resumed_at_step" in fact]


def assert_same_weights(one: RunFiles, other: RunFiles) -> None:
    tensors, expected = load_file(one.weights), load_file(other.weights)
    assert tensors.keys() == expected.keys()
    assert all(torch.equal(tensors[name], expected[name]) for name in expected)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home for what several of these tests look at."""
    made = Home(tmp_path_factory.mktemp("home"))
    made.prepare()
    trained((prepared_run(made, "unbroken"), 0), (prepared_run(made, "interrupted"), 30))
    return made


@pytest.fixture
def unbroken(place: Home) -> RunFiles:
    """The training that nobody killed."""
    files = RunFiles(place.runs / "unbroken")
    assert len(steps(files)) == STEPS
    return files


@pytest.fixture
def interrupted(place: Home, home: Home) -> RunFiles:
    """One that was killed before its 30th micro-step, with the two checkpoints that it left."""
    files = RunFiles(home.runs / "interrupted")
    shutil.copytree(place.runs / "interrupted", files.folder)
    assert len(files.checkpoints()) == 2
    return files


def test_killed_over_and_over_it_ends_with_the_same_weights(home: Home, unbroken: RunFiles) -> None:
    killed = prepared_run(home, "killed")
    # While the base is asked; in a first step; and four times further on.
    assert trained(*((killed, at) for at in (4, 15, 14, 9, 6, 0))) == [False] * 5 + [True]
    assert_same_weights(killed, unbroken)
    told = {step["step"]: step for step in steps(unbroken)}
    assert all(step == told[step["step"]] for step in steps(killed))
    assert len(resumed_at(killed)) >= 3
    assert resumed_at(killed) == sorted(resumed_at(killed))
    report, expected = read_json(killed.report("train")), read_json(unbroken.report("train"))
    assert report["tokens"] == expected["tokens"]
    assert report["lesson_losses"] == expected["lesson_losses"]
    assert {each["lesson"] for each in report["lesson_losses"]} == {str(number) for number in range(LESSONS)}
    assert not killed.checkpoints()


@pytest.mark.parametrize("damaged", [1, 2])
def test_a_damaged_checkpoint_is_refused_and_the_one_before_taken(
    interrupted: RunFiles, unbroken: RunFiles, damaged: int
) -> None:
    before = interrupted.checkpoints()[0]
    for path in interrupted.checkpoints()[-damaged:]:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    assert trained((interrupted, 0)) == [True]
    assert resumed_at(interrupted) == ([int(before.stem.split("-")[1])] if damaged == 1 else [])
    assert_same_weights(interrupted, unbroken)


def test_a_checkpoint_of_another_training_is_never_taken(home: Home, interrupted: RunFiles, unbroken: RunFiles) -> None:
    mine = prepared_run(home, "mine", recipe={"early_stop": {"least_gain": 0.5}})
    for path in interrupted.checkpoints():
        shutil.copy(path, mine.stage("train"))
    # As a kill would leave one that it was just writing.
    (mine.stage("train") / "checkpoint-00000099.bin.part").write_bytes(b"half")
    assert trained((mine, 0)) == [True]
    assert resumed_at(mine) == []
    # What the recipe adds did not come into force.
    assert_same_weights(mine, unbroken)
    assert not mine.checkpoints()


def test_many_equal_targets_give_the_same_gradient_each_time() -> None:
    generator = torch.Generator().manual_seed(2)
    hidden = torch.randn(2000, 8, generator=generator, requires_grad=True)
    head = Dense(torch.randn(64, 8, generator=generator))
    rows, tokens = (torch.randint(0, most, (200_000,), generator=generator) for most in (2000, 4))
    weights = torch.randn(200_000, generator=generator)
    gradients: list[torch.Tensor] = []
    wanted = (head, rows, tokens, torch.float32, 0.0, compiled(torch.float32, hidden.device))
    for _ in range(5):
        hidden.grad = None
        (TargetLogProbs.apply(hidden, *wanted) * weights).sum().backward()
        assert hidden.grad is not None
        gradients.append(hidden.grad)
    assert all(torch.equal(gradient, gradients[0]) for gradient in gradients)


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_killed_at_twenty_random_places_it_ends_with_the_same_weights(home: Home, unbroken: RunFiles) -> None:
    places = random.Random(5)
    kills = [(prepared_run(home, f"killed-{number}"), places.randint(1, 33)) for number in range(20)]
    assert trained(*(each for killed, at in kills for each in ((killed, at), (killed, 0)))) == [False, True] * 20
    within: dict[int, set[int]] = {}
    for killed, at in kills:
        assert_same_weights(killed, unbroken)
        for step in resumed_at(killed):
            within.setdefault(step, set()).add(at)
    # Of two kills at unlike places of one step the later one left half of a gradient behind.
    assert any(len(ats) > 1 for ats in within.values())


@pytest.mark.soak
def test_killed_again_and_again_on_its_way_it_ends_with_the_same_weights(home: Home, unbroken: RunFiles) -> None:
    places = random.Random(6)
    killed = prepared_run(home, "killed")
    # The first gets past what the base is asked, which the others then know.
    ends = trained((killed, 16), *((killed, places.randint(5, 9)) for _ in range(19)))
    assert ends.count(False) > 3
    assert_same_weights(killed, unbroken)
