"""A few steps of a run in a process: what they took of memory and time, and what is told where they do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from configs.settings import Settings
from tests.trainer.pretraining.tiny import one_thread, tiny
from trainer.pretraining.trial import Trial, carry, trial_from_json


@pytest.fixture
def trial(settings: Settings, tmp_path: Path) -> Trial:
    energy = settings.training.energy
    return Trial(tiny(), micro_batches=1, seconds=0.01, patience=1, idle=False, folder=str(tmp_path), energy=energy)


def test_a_trial_is_known_again_as_json(trial: Trial) -> None:
    assert trial_from_json(trial.as_json()) == trial


def test_a_trial_says_what_its_steps_took(trial: Trial) -> None:
    with one_thread():
        found = carry(trial)
    assert found is not None
    assert min(found.gradient, found.move, found.validation, found.token, found.checkpoint) > 0
    # Weights and their moments in float32.
    assert found.checkpoint_bytes > 8 * trial.run.model.parameters
    assert found.peak_bytes > found.checkpoint_bytes
    assert found.skipped == 0.0


def test_steps_in_which_float16_overflows_are_counted(trial: Trial) -> None:
    run = tiny("hardware.precision=float16", "train.loss_scale.start=1e30")
    with one_thread():
        found = carry(Trial(**{**vars(trial), "run": run}))
    assert found is not None
    assert found.skipped == 1.0
