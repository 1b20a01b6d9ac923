"""What a preflight refuses a run for."""

from __future__ import annotations

from trainer.errors import TrainerError


class TrialFailed(TrainerError):
    """A few steps of the run could not be taken, and not for want of memory. facts: run, reason."""

    code = "preflight_trial_failed"


class BatchTooLarge(TrainerError):
    """facts: run, micro_batch, memory_gib, fits (the largest micro-batch that does)."""

    code = "preflight_batch_too_large"


class ModelTooLarge(TrainerError):
    """Not even one sequence fits. facts: run, memory_gib, least_gib (weights and moments), layers, fits (layers)."""

    code = "preflight_model_too_large"


class NoRoomForCheckpoints(TrainerError):
    """facts: run, path, needed_gib, free_gib."""

    code = "preflight_no_room"
