"""What may go wrong while a model of one's own is trained, beside what is wrong with its run before it starts."""

from __future__ import annotations

from trainer.errors import TrainerError


class RunDiffers(TrainerError):
    """A run would go on from another configuration. facts: run, folder, differences ("key: was → is; …")."""

    code = "pretraining_run_differs"
    exit_code = 2


class RunUnderWay(TrainerError):
    """Another process trains the same run. facts: run."""

    code = "pretraining_under_way"


class ProcessesDoNotFit(TrainerError):
    """The run is for another number of processes than were started. facts: run, asked, found."""

    code = "pretraining_processes"
    exit_code = 2


class NothingTrained(TrainerError):
    """A run has no checkpoint that could be exported. facts: run."""

    code = "pretraining_nothing_trained"


class TooManySpikes(TrainerError):
    """The loss went astray more often than the run lets it. facts: run, step, loss, usual, times."""

    code = "pretraining_spikes"
