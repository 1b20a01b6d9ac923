"""What can go wrong in a training. Importable without torch; the sentences are in the catalogues."""

from __future__ import annotations

from typing import Final

from configs.errors import EnlaceError


class TrainerError(EnlaceError):
    """The root of everything that this room raises."""

    code = "trainer_failed"


class NotTrainable(TrainerError):
    """facts: path, architecture, trainable (those that can be taught, comma-separated)."""

    code = "not_trainable"


class ShapeNotTrainable(NotTrainable):
    """The family can be taught, but not this model of it. facts: as NotTrainable, and what (a key or a tensor)."""

    code = "shape_not_trainable"


class TemplateNotTrainable(TrainerError):
    """The chat template writes what the vocabulary has no tokens for. facts: path, reason."""

    code = "template_not_trainable"


class NothingToLearn(TrainerError):
    """There is no shared, active lesson with a correction. facts: dropped."""

    code = "nothing_to_learn"


class NothingLeft(TrainerError):
    """Every lesson was withdrawn, and the current snapshot still knows some. facts: current, base (a snapshot)."""

    code = "nothing_left"


class PrivateTrainingOff(TrainerError):
    """The member has not asked for a training of their own. facts: name."""

    code = "private_training_off"


class NothingPrivate(TrainerError):
    """The member has no private, active lesson with a correction. facts: dropped."""

    code = "nothing_private"


class NothingPrivateLeft(TrainerError):
    """All of the member's private corrections were taken back; what was trained of them is not in force any more.

    facts: adapter.
    """

    code = "nothing_private_left"


class LessonsTakenBack(TrainerError):
    """Lessons were withdrawn while they were trained. facts: run, number."""

    code = "lessons_taken_back"


class RecipeUnknown(TrainerError):
    """facts: recipe, known."""

    code = "recipe_unknown"
    exit_code = 2


class RunNotHeld(TrainerError):
    """There is nothing to blame a lesson for: the run is no training, or none that the gate held. facts: run."""

    code = "run_not_held"
    exit_code = 2


class HeldRunChanged(TrainerError):
    """Lessons of the held run were withdrawn since, or what it measured is gone. facts: run."""

    code = "held_run_changed"


class BaseReplaced(TrainerError):
    """The base model's file is not the one that the current snapshot names. facts: path, expected, found."""

    code = "base_replaced"


class LossNotFinite(TrainerError):
    """facts: step, objective (whose loss it is, or ``gradient``), value."""

    code = "loss_not_finite"


class ParityBroken(TrainerError):
    """The exported adapter does not give the trained function when served. facts: kl, bound."""

    code = "parity_broken"


# How a training ends that goes too far, before the gate could say so: other numbers, or other lessons, may not.
GONE_TOO_FAR = (LossNotFinite.code, ParityBroken.code)


class StageDied(TrainerError):
    """A stage's process ended without its result. facts: stage, status, log."""

    code = "stage_died"


class ProcessLost(TrainerError):
    """Another process of the same training has ended. facts: process (this one's number), processes, reason."""

    code = "process_lost"


class SharesDoNotFit(TrainerError):
    """The settings share a training out among another number of processes. facts: shares, processes."""

    code = "shares_do_not_fit"


class StageOverBudget(TrainerError):
    """facts: stage, seconds."""

    code = "stage_over_budget"


class StageTooCostly(TrainerError):
    """The training has drawn all the energy that it may. facts: stage, budget (watt-hours)."""

    code = "stage_too_costly"


class RestTooLong(TrainerError):
    """What is left after a stage would take longer than there is time. facts: stage, seconds (in all), budget."""

    code = "rest_too_long"


class RestTooCostly(TrainerError):
    """The same of its energy. facts: stage, watt_hours (in all), budget."""

    code = "rest_too_costly"


class RunTooLong(TrainerError):
    """It would take longer than it may, so it does not begin. facts: seconds, budget."""

    code = "run_too_long"


class RunTooCostly(TrainerError):
    """It would draw more than it may, so it does not begin. facts: watt_hours, budget."""

    code = "run_too_costly"


class RunStopped(TrainerError):
    """The run was asked to stop. facts: run."""

    code = "run_stopped"


class NotMergeable(TrainerError):
    """An adapter changes what cannot be changed in the weights. facts: path, tensor."""

    code = "not_mergeable"


class NoRoom(TrainerError):
    """The run's files cannot be written. facts: path, reason."""

    code = "training_no_room"


class SwapRefused(TrainerError):
    """The new snapshot cannot be served; the old one is current still. facts: snapshot, reason."""

    code = "swap_refused"


class TrainingDataBroken(TrainerError):
    """A line of a training file cannot be read. facts: path, line, reason."""

    code = "training_data_broken"


class ClaimLost(TrainerError):
    """Another machine took over a training that was due, after it saw no sign of this one. No facts."""

    code = "claim_lost"


class SchedulerRunning(TrainerError):
    """A process that begins trainings by itself runs in this home already. No facts."""

    code = "scheduler_running"


class ArtifactChanged(TrainerError):
    """What a stage left is not what it said that it left. facts: stage, expected, found (digests)."""

    code = "artifact_changed"


class RecipeKeyUnknown(TrainerError):
    """facts: file, key (dotted), nearest (a name that there is, or empty)."""

    code = "recipe_key_unknown"
    exit_code = 2


class PlanFileMissing(TrainerError):
    """There is no recipe's file, or manifest, of this name. facts: file."""

    code = "plan_file_missing"
    exit_code = 2


class ManifestMissing(PlanFileMissing):
    """The same where no recipe would do. facts: file."""

    code = "manifest_missing"


class PlanFileUnreadable(TrainerError):
    """It is neither a recipe nor a manifest. facts: file, reason, line and column (from 1; 0 where nobody knows)."""

    code = "plan_file_unreadable"
    exit_code = 2


class ManifestWrong(TrainerError):
    """A manifest lacks something, or is of another version of Enlace. facts: file, key, reason."""

    code = "manifest_wrong"
    exit_code = 2


class InputMissing(TrainerError):
    """A stage is not given all that it takes. facts: file, stage, input, wants (a type)."""

    code = "input_missing"
    exit_code = 2


class InputMismatch(TrainerError):
    """A stage is given what it cannot take. facts: file, stage, input, wants, source, gives (types)."""

    code = "input_mismatch"
    exit_code = 2


class GraphCyclic(TrainerError):
    """Stages wait for each other. facts: file, stages ("a → b → a")."""

    code = "graph_cyclic"
    exit_code = 2


class ManifestStale(TrainerError):
    """What is here is not what the manifest names. facts: file, what, expected, found (a dash: it is not here)."""

    code = "manifest_stale"


class ManifestRefused(TrainerError):
    """A manifest must not be run as it is. facts: file, reasons (codes, comma-separated)."""

    code = "manifest_refused"


class ManifestNotDone(TrainerError):
    """Nothing has come of a manifest yet that could be judged or compared. facts: file."""

    code = "manifest_not_done"
    exit_code = 2


# What a run has no more of, or would take too much of: time or energy. None of it speaks against what was done before.
SPENT: Final = (StageOverBudget, StageTooCostly, RestTooLong, RestTooCostly, RunTooLong, RunTooCostly)
