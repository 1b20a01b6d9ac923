"""What a preflight reckons from its trials, and what it proposes for a run that does not fit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from configs.home import Home
from configs.pretraining.composing import compose
from configs.pretraining.schema import Run
from configs.settings import Settings
from trainer.pretraining.least import state_bytes
from trainer.pretraining.misfits import BatchTooLarge, ModelTooLarge, NoRoomForCheckpoints
from trainer.pretraining.preflight import Report, preflight, whole_seconds
from trainer.pretraining.profiles import GIB
from trainer.pretraining.trial import Tried
from trainer.pretraining.trying import Trials

FOUND = Tried(
    peak_bytes=0,
    gradient=0.5,
    move=0.25,
    validation=0.125,
    token=0.001,
    checkpoint=0.5,
    checkpoint_bytes=1000,
    skipped=0.0,
    watts=0.0,
    sources=(),
)


@dataclass(frozen=True)
class MadeUp(Trials):
    """Trials of a device that takes ``base``, ``layer`` for each layer and ``sequence`` for each at once, in GiB."""

    base: float = 0.5
    layer: float = 0.125
    sequence: float = 0.25
    found: Tried = FOUND
    asked: list[tuple[int, int]] = field(default_factory=list)

    def _tried(self, run: Run, seconds: float) -> Tried | None:
        self.asked.append((run.model.layers, run.train.micro_batch))
        peak = self.base + self.layer * run.model.layers + self.sequence * run.train.micro_batch
        return replace(self.found, peak_bytes=int(peak * GIB)) if peak <= run.hardware.memory_gib else None


@pytest.fixture
def trials(settings: Settings, tmp_path: Path) -> MadeUp:
    return MadeUp(settings.training, tmp_path, lambda _: None)


def run_of(home: Home, *typed: str) -> Run:
    return compose("spanish-10m", typed, home, Path.cwd()).run


def test_a_runs_time_is_that_of_its_steps_its_looks_its_samples_and_its_checkpoints(home: Home) -> None:
    run = run_of(home, "train.tokens=409600", "train.validate_steps=50", "train.checkpoint_seconds=60")
    assert (run.steps, run.accumulated) == (100, 2)
    steps = 100 * (2 * 0.5 + 0.25)
    looks = 2 * (64 / 8) * 0.125
    samples = 1 * 3 * 48 * 0.001
    work = steps + looks + samples
    assert whole_seconds(run, FOUND) == pytest.approx(work + (2 + work / 60) * 0.5)


def test_energy_is_that_of_the_profile_where_nothing_measured_it_and_says_so(home: Home, trials: MadeUp) -> None:
    run = run_of(home)
    report = preflight(run, trials)
    assert report.energy.joules == report.energy.estimated == pytest.approx(report.seconds * 15)
    measured = preflight(run, replace(trials, found=replace(FOUND, watts=40.0, sources=("rapl",))))
    assert measured.energy.joules == pytest.approx(measured.seconds * 40)
    assert (measured.energy.estimated, measured.energy.sources) == (0.0, ("rapl",))
    assert measured.price == pytest.approx(measured.energy.joules / 3.6e6 * 0.25)


def test_the_largest_micro_batch_that_fits_is_found_and_tried(home: Home, trials: MadeUp) -> None:
    # 0.5 + 5 / 8 + 4 = 5.125 GiB for all sixteen.
    assert told(preflight(run_of(home, "hardware.memory_gib=6"), trials)) == (16, True)
    assert told(preflight(run_of(home, "hardware.memory_gib=5"), trials)) == (8, True)


def test_a_larger_micro_batch_that_takes_too_long_to_try_is_reckoned_and_said_to_be(home: Home, trials: MadeUp) -> None:
    slow = replace(trials, found=replace(FOUND, gradient=30.0))
    assert told(preflight(run_of(home, "hardware.memory_gib=6"), slow)) == (16, False)


def told(report: Report) -> tuple[int, bool]:
    return report.largest_micro_batch, report.largest_tried


def test_a_run_whose_batch_does_not_fit_is_refused_with_the_largest_that_does(home: Home, trials: MadeUp) -> None:
    with pytest.raises(BatchTooLarge) as refused:
        preflight(run_of(home, "hardware.memory_gib=2.2", "train.micro_batch=16"), trials)
    # 0.5 + 5 / 8 leave room for four.
    assert refused.value.facts["fits"] == 4
    assert (5, 4) in trials.asked


def test_a_model_that_does_not_fit_with_one_sequence_is_refused_with_the_layers_that_do(
    home: Home, trials: MadeUp
) -> None:
    with pytest.raises(ModelTooLarge) as refused:
        preflight(run_of(home, "hardware.memory_gib=1.15"), trials)
    # One sequence and three layers take 1.125 GiB.
    assert refused.value.facts["fits"] == 3


def test_muon_keeps_one_moment_of_what_it_moves(home: Home) -> None:
    by_muon, by_adamw = (run_of(home, f"train.optimiser={name}") for name in ("muon", "adamw"))
    shape = by_muon.model
    assert state_bytes(by_adamw) == 16 * shape.parameters
    assert state_bytes(by_muon) == 12 * shape.parameters + 4 * shape.vocabulary * shape.width


def test_a_disk_without_room_for_the_checkpoints_is_told_of(home: Home, trials: MadeUp) -> None:
    full = replace(trials, found=replace(FOUND, checkpoint_bytes=1 << 60))
    with pytest.raises(NoRoomForCheckpoints):
        preflight(run_of(home), full)
