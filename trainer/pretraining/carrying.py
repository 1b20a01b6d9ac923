"""A run from its configuration to its end, in the process or processes that were started for it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

from configs.pretraining.places import Places
from configs.pretraining.schema import Run
from configs.sections.training import DistributionSettings
from configs.settings import Settings
from engine.fit import usable_processors
from trainer.corpus.index import Split
from trainer.corpus.opening import open_loaders
from trainer.courtesy import Courtesy, step_back
from trainer.distributed import Together, joined
from trainer.model import freed
from trainer.place import Place
from trainer.pretraining.errors import ProcessesDoNotFit, RunUnderWay
from trainer.pretraining.files import PretrainingFiles
from trainer.pretraining.loop import Around, End, Pretraining
from trainer.pretraining.peak import peak_bytes
from trainer.pretraining.resuming import begin_or_go_on, identity_of
from trainer.pretraining.training import Training
from trainer.room import alone_at
from trainer.telling import Tell
from trainer.tokenizer.tokenizer import Tokenizer
from trainer.tracking import leave_curves

# Sums of a card's tensors go from card to card, what is said in objects through the processors.
BACKENDS = {"cpu": "gloo", "cuda": "cpu:gloo,cuda:nccl"}


def carry(places: Places, settings: Settings, place: Place, tell: Tell, stopping: Callable[[], bool]) -> End:
    """Train the run of ``places`` to its end, or until it is asked to stop.

    Raises RunDiffers, RunUnderWay, ProcessesDoNotFit, ProcessLost, what is wrong with the corpus, and as
    ``Pretraining.carry``.
    """
    run, budget = places.run, settings.training.budget
    files = PretrainingFiles(places.folder)
    if settings.training.idle_priority:
        step_back()
    with _held(files, place):
        if place.first:
            begin_or_go_on(run, places.resolved)
        text = Tokenizer.load(places.tokenizer)
        sequences: dict[Split, int] = {"train": run.train.batch, "validation": run.train.validation_sequences}
        loaders = open_loaders(
            places.corpus,
            run.train.seed,
            vocabulary=run.model.vocabulary,
            length=run.model.context,
            batches=sequences,
            tokenizer=text.sha256,
        )
        around = Around(
            text=text,
            train=loaders["train"].for_place(place.rank, place.size),
            validation=loaders["validation"].for_place(place.rank, place.size),
            files=files,
            belongs=identity_of(run),
            tell=tell,
            stopping=stopping,
            before_step=Courtesy(
                places.home.busy_flag, longest=budget.busy_wait_seconds, poll=budget.busy_poll_seconds
            ),
        )
        with together_for(run, place, files.meeting, budget.run_seconds) as together:
            end = Pretraining(Training(run, together), around).carry()
    if place.first:
        tell("ended", None, {"end": end, "peak_bytes": peak_bytes(run.hardware)})
        leave_curves(places.folder, run.name, budget.report_seconds)
    return end


@contextlib.contextmanager
def together_for(run: Run, place: Place, meeting: Path, seconds: float) -> Iterator[Together]:
    """The processes of ``run``, of which this is the one at ``place``, computing with as many threads as it has.

    Where no starter says at which address, they meet in the file ``meeting``, and wait for each other for ``seconds``.
    Raises ProcessesDoNotFit, ProcessLost.
    """
    hardware = run.hardware
    if place.size != hardware.processes:
        raise ProcessesDoNotFit(run=run.name, asked=hardware.processes, found=place.size)
    torch.set_num_threads(hardware.threads or max(1, len(usable_processors()) // place.here))
    settings = DistributionSettings(processes=place.size, shares=())
    lockstep = hardware.weights == "shared_out" and place.size > 1
    backend = BACKENDS[hardware.device]
    if not lockstep:
        freed.keep()
    with joined(place, settings, meeting, seconds, lockstep=lockstep, backend=backend) as together:
        yield together


@contextlib.contextmanager
def _held(files: PretrainingFiles, place: Place) -> Iterator[None]:
    """The run, for these processes alone. Raises RunUnderWay, NoRoom."""
    if not place.first:
        yield
        return
    with alone_at(files.lock, RunUnderWay(run=files.folder.name)):
        # What a run before this one left, of processes that are gone.
        files.meeting.unlink(missing_ok=True)
        yield
