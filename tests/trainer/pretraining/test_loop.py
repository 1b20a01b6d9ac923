"""A pretraining ends with the same weights however often it was ended before, and loses nothing of what went wrong."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.project import ROOT
from tests.trainer.pretraining.tiny import Heard, around, one_thread, tiny
from trainer.errors import NoRoom
from trainer.pretraining.errors import RunDiffers, TooManySpikes
from trainer.pretraining.files import PretrainingFiles
from trainer.pretraining.loop import Pretraining
from trainer.pretraining.resuming import begin_or_go_on, read_run
from trainer.pretraining.training import Found, Training
from trainer.sealed import read_sealed, write_sealed


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


def trained(folder: Path, *changed: str, heard: Heard | None = None) -> Training:
    run = tiny(*changed)
    training = Training(run)
    assert Pretraining(training, around(run, folder, heard)).carry() == "done"
    return training


def weights(training: Training) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in training.tensors().items()}


def assert_same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    assert all(torch.equal(value, other[name]) for name, value in one.items())


def last_checkpoint(folder: Path) -> dict[str, torch.Tensor]:
    found = read_sealed(PretrainingFiles(folder).checkpoints()[-1])
    assert found
    return found[0]


def test_a_run_learns_its_text_looks_at_unseen_text_and_lets_the_model_write(tmp_path: Path) -> None:
    heard = Heard()
    trained(tmp_path, "train.tokens=2880", heard=heard)
    assert heard.losses[0] == pytest.approx(math.log(264), abs=0.3)
    assert heard.losses[-1] < heard.losses[0] - 1
    looks = heard.of("validation")
    assert [look["step"] for look in looks] == list(range(5, 61, 5))
    # One byte a token.
    assert looks[-1]["bits_per_byte"] == pytest.approx(looks[-1]["loss"] / math.log(2))
    assert [told["step"] for told in heard.of("sample")] == list(range(10, 61, 10))
    assert len(PretrainingFiles(tmp_path).checkpoints()) == 3


@pytest.mark.parametrize("kind", ["train.optimiser=adamw", "train.optimiser=muon"])
def test_who_is_asked_to_stop_finishes_the_step_and_goes_on_to_the_same_weights(kind: str, tmp_path: Path) -> None:
    run, heard, asked = tiny(kind, "train.checkpoint_seconds=1000"), Heard(), iter([False, False, True])
    where = around(run, tmp_path / "stopped", heard, stopping=lambda: next(asked))
    assert Pretraining(Training(run), where).carry() == "stopped"
    assert heard.of("step")[-1]["step"] == heard.of("stopped")[0]["step"] == 3
    went_on = trained(tmp_path / "stopped", kind, heard=heard)
    assert heard.of("begun")[-1]["step"] == 3
    assert_same(weights(went_on), weights(trained(tmp_path / "straight", kind)))


def killed(folder: Path, seed: int, kills: int) -> None:
    command = [sys.executable, "-m", "tests.trainer.pretraining.killed", str(folder), str(seed), str(kills)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    told = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    assert int(told.stdout) > 0
    assert_same(last_checkpoint(folder / "killed"), last_checkpoint(folder / "straight"))


def test_killed_at_three_random_instants_a_run_ends_with_the_same_bits(tmp_path: Path) -> None:
    killed(tmp_path, seed=5, kills=3)


@pytest.mark.soak
def test_killed_at_twenty_random_instants_a_run_ends_with_the_same_bits(tmp_path: Path) -> None:
    seed = int(os.environ.get("SOAK_SEED", 0)) or int.from_bytes(os.urandom(4), "big")
    sys.stdout.write(f"SOAK_SEED={seed}\n")
    killed(tmp_path, seed, kills=20)


class Astray(Training):
    """Finds a loss that is none, or far too high, in the batches whose numbers are told."""

    def __init__(self, loss: float, batches: tuple[int, ...], *changed: str) -> None:
        super().__init__(tiny(*changed))
        self._loss, self._batches, self._seen = loss, batches, 0

    def gradient(self, rows: object) -> Found:
        found = super().gradient(rows)  # type: ignore[arg-type]
        self._seen += 1
        return replace(found, loss=self._loss) if self._seen in self._batches else found


@pytest.mark.parametrize("loss", [math.nan, math.inf, 60.0])
def test_a_loss_that_goes_astray_goes_back_and_on_behind_that_text_and_says_so(loss: float, tmp_path: Path) -> None:
    heard, times = Heard(), iter(range(1000))
    # A checkpoint at the start, and after every second step.
    training = Astray(loss, (6,), "train.checkpoint_seconds=3.5")
    where = around(training.run, tmp_path, heard, clock=lambda: float(next(times)))
    assert Pretraining(training, where).carry() == "done"
    (back,) = heard.of("went_back")
    assert back["step"] == 6
    assert back["loss"] == f"{loss:.3f}"
    assert 0 < back["to"] < 5
    steps = [told["step"] for told in heard.of("step")]
    assert steps == [1, 2, 3, 4, 5, *range(back["to"] + 1, 11)]
    # The text before it is not read again: as many batches as steps, and the one that led astray.
    assert where.train.state()["position"] == (len(steps) + 1) * 4 * 12


class Killed(Exception):
    """In the place of a SIGKILL: nothing that comes after it is done."""


def test_whoever_is_killed_behind_a_spike_goes_on_behind_it(tmp_path: Path) -> None:
    def kill(kind: str, fraction: float | None, facts: Mapping[str, Any]) -> None:
        if kind == "went_back":
            raise Killed

    training = Astray(math.nan, (4,))
    with pytest.raises(Killed):
        Pretraining(training, replace(around(training.run, tmp_path), tell=kill)).carry()
    again = Astray(math.nan, ())
    assert Pretraining(again, around(again.run, tmp_path)).carry() == "done"
    straight = Astray(math.nan, (4,))
    assert Pretraining(straight, around(straight.run, tmp_path / "straight")).carry() == "done"
    assert_same(weights(again), weights(straight))


def test_a_loss_that_goes_astray_too_often_ends_the_run_and_keeps_its_checkpoints(tmp_path: Path) -> None:
    training = Astray(math.nan, tuple(range(3, 20)), "train.spike.most=2")
    with pytest.raises(TooManySpikes) as caught:
        Pretraining(training, around(training.run, tmp_path)).carry()
    assert caught.value.facts["times"] == 2
    assert last_checkpoint(tmp_path)


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_a_run_in_half_precision_learns_and_is_taken_up_to_the_bit(precision: str, tmp_path: Path) -> None:
    changed = (f"hardware.precision={precision}", "train.tokens=1440", "train.loss_scale.start=1e9")
    heard, asked = Heard(), iter([False] * 14 + [True])
    run = tiny(*changed)
    where = around(run, tmp_path / "stopped", heard, stopping=lambda: next(asked))
    assert Pretraining(Training(run), where).carry() == "stopped"
    went_on = trained(tmp_path / "stopped", *changed, heard=heard)
    assert heard.losses[-1] < heard.losses[0] - 0.1
    # 1e9 overflows in float16; a step that does is left out, and the factor made smaller.
    assert any(told["skipped"] for told in heard.of("step")) == (precision == "float16")
    assert_same(weights(went_on), weights(trained(tmp_path / "straight", *changed)))


class Disk:
    """A disk that is full while ``full``; ``room`` is there for a file where another goes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = False
        self.most: int | None = None
        monkeypatch.setattr("trainer.checkpoints.write_sealed", self)

    def __call__(self, path: Path, *given: object) -> None:
        held = len(list(path.parent.glob("*.bin"))) if path.parent.is_dir() else 0
        if self.full or (self.most is not None and held >= self.most):
            raise NoRoom(path=str(path), reason="No space left on device")
        write_sealed(path, *given)  # type: ignore[arg-type]


def test_a_disk_that_fills_loses_nothing_and_training_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk, heard = Disk(monkeypatch), Heard()

    def tell(kind: str, fraction: float | None, facts: Mapping[str, Any]) -> None:
        heard(kind, fraction, facts)
        if kind == "step":
            disk.full = facts["step"] in (4, 5, 6)

    run = tiny()
    training = Training(run)
    assert Pretraining(training, replace(around(run, tmp_path / "full"), tell=tell)).carry() == "done"
    assert [told["step"] for told in heard.of("checkpoint_failed")] == [4, 5, 6]
    assert_same(weights(training), weights(trained(tmp_path / "straight")))


def test_where_there_is_room_for_two_the_oldest_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Disk(monkeypatch).most = 2
    heard = Heard()
    trained(tmp_path, heard=heard)
    assert not heard.of("checkpoint_failed")
    assert [path.name for path in PretrainingFiles(tmp_path).checkpoints()][-1] == "checkpoint-00000010.bin"


def test_a_run_without_room_for_its_first_checkpoint_does_not_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Disk(monkeypatch).full = True
    heard = Heard()
    with pytest.raises(NoRoom):
        trained(tmp_path, heard=heard)
    assert not heard.losses


def test_a_run_goes_on_with_the_same_configuration_only_and_says_what_differs(tmp_path: Path) -> None:
    resolved = tmp_path / "run.yaml"
    begin_or_go_on(tiny(), resolved)
    with pytest.raises(RunDiffers) as caught:
        begin_or_go_on(tiny("train.seed=7", "train.adamw.beta1=0.8"), resolved)
    assert caught.value.facts["differences"] == "train.adamw.beta1: 0.9 → 0.8; train.seed: 1 → 7"
    assert read_run(resolved).train.seed == 1
    # How often it is kept, and by which threads it is computed, changes nothing that is trained.
    begin_or_go_on(tiny("train.checkpoints_kept=9", "hardware.threads=2"), resolved)
    assert read_run(resolved).train.checkpoints_kept == 9
