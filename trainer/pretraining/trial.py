"""A few steps of a run on made-up text, in a process of its own: what they take of memory, time and energy.

``python -m trainer.pretraining.trial PARENT`` reads a Trial as JSON on stdin and writes a Tried as JSON on stdout, or
null where the device has no room. It ends with the process PARENT.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from configs.pretraining.schema import Run
from configs.sections.energy import EnergySettings
from trainer.courtesy import die_with, step_back
from trainer.energy.meter import meter_of
from trainer.place import place_in
from trainer.pretraining.peak import peak_bytes
from trainer.pretraining.profiles import GIB

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from trainer.distributed import Together

T = TypeVar("T")
# Before anything is measured, so that all that a step needs is there.
_FIRST_STEPS = 2
# At what is not a step, but done between them.
_LOOKS = 3


@dataclass(frozen=True)
class Trial:
    """``micro_batches``: of each step, at most; ``seconds``: how long steps are measured, 0 for not at all.

    ``folder``: of the trial alone, on the disk that checkpoints will be on. ``patience``: seconds that processes wait
    for each other. ``idle``: whether the training will run only while nobody else wants the processor.
    """

    run: Run
    micro_batches: int
    seconds: float
    patience: float
    idle: bool
    folder: str
    energy: EnergySettings

    def as_json(self) -> dict[str, Any]:
        """``trial_from_json`` reads it back."""
        run, energy = self.run.model_dump(mode="json"), self.energy.model_dump(mode="json")
        return {**vars(self), "run": run, "energy": energy}


@dataclass(frozen=True)
class Tried:
    """What was seen of one process. Bytes, seconds and watts.

    ``gradient`` and ``validation`` are of one micro-batch, ``move`` of a step, ``token`` of one in a sample, and
    ``checkpoint`` of one checkpoint of ``checkpoint_bytes``. ``skipped``: the share of the steps in which float16
    overflowed. ``watts``: what was measured; 0 where nothing measures it.
    """

    peak_bytes: int
    gradient: float
    move: float
    validation: float
    token: float
    checkpoint: float
    checkpoint_bytes: int
    skipped: float
    watts: float
    sources: tuple[str, ...]


def trial_from_json(told: dict[str, Any]) -> Trial:
    """The reverse of ``Trial.as_json``."""
    run, energy = Run.model_validate(told["run"]), EnergySettings.model_validate(told["energy"])
    return Trial(**{**told, "run": run, "energy": energy})


def carry(trial: Trial) -> Tried | None:
    """Take the steps; None where the device has no room for them."""
    import torch

    try:
        return _carry(trial)
    except (MemoryError, torch.OutOfMemoryError):
        return None
    except RuntimeError as error:
        # What torch says where the system gives it no more (c10/core/impl/alloc_cpu.cpp).
        if "not enough memory" in str(error) or "can't allocate memory" in str(error):
            return None
        raise


def _carry(trial: Trial) -> Tried:
    import torch

    from trainer.pretraining.carrying import together_for

    hardware, place = trial.run.hardware, place_in(os.environ)
    if hardware.device == "cuda":
        card = place.rank % place.here
        whole = torch.cuda.get_device_properties(card).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, hardware.memory_gib * GIB / whole), card)
    with together_for(trial.run, place, Path(trial.folder) / "meeting", trial.patience) as together:
        return _steps_of(trial, _Steps(trial, together))


def _steps_of(trial: Trial, steps: _Steps) -> Tried:
    from trainer.pretraining.looks import next_logits

    run, plan, together = trial.run, trial.run.train, steps.training.together
    file = Path(trial.folder) / f"checkpoint-{together.place.rank}"
    for _ in range(_FIRST_STEPS):
        steps.take()
    validation = steps.usual(lambda: steps.training.cost(steps.rows(1)))
    tokens = [0] * min(run.model.context - 1, plan.sample_tokens)
    token = steps.usual(lambda: next_logits(steps.training, tokens))
    size, checkpoint = steps.timed(lambda: _written(steps.training.tensors(), file))
    meter = meter_of(trial.energy, 0.0)
    began = time.monotonic()
    taken: list[tuple[float, float]] = []
    # All processes have to take as many.
    while trial.seconds and (not taken or together.first(time.monotonic() - began < trial.seconds)):
        taken.append(steps.take())
    seconds, energy = time.monotonic() - began, meter.drawn()
    return Tried(
        peak_bytes=peak_bytes(run.hardware),
        gradient=statistics.median(each for each, _ in taken) if taken else 0.0,
        move=statistics.median(each for _, each in taken) if taken else 0.0,
        validation=validation,
        token=token,
        checkpoint=checkpoint,
        checkpoint_bytes=size,
        skipped=1 - sum(steps.moved) / len(steps.moved),
        watts=energy.joules / seconds if taken else 0.0,
        sources=energy.sources,
    )


class _Steps:
    """Steps of a trial. ``moved``: of each, whether it moved anything."""

    def __init__(self, trial: Trial, together: Together) -> None:
        import numpy as np

        from trainer.pretraining.training import Training

        self._run = trial.run
        self._few = min(trial.run.accumulated, trial.micro_batches)
        self._drawn = np.random.default_rng(trial.run.train.seed)
        self.training = Training(trial.run, together)
        self.moved: list[bool] = []

    def take(self) -> tuple[float, float]:
        """One step: seconds of a micro-batch's gradient, and of the move."""
        found, gradient = self.timed(lambda: self.training.gradient(self.rows(self._few)))
        step = min(len(self.moved), self._run.steps - 1)
        moved, move = self.timed(lambda: self.training.move(step, found))
        self.moved.append(moved)
        return gradient / self._few, move

    def rows(self, micro_batches: int) -> NDArray[np.int64]:
        """Tokens by chance, [sequences, context + 1]."""
        shape = (micro_batches * self._run.train.micro_batch, self._run.model.context + 1)
        return self._drawn.integers(0, self._run.model.vocabulary, shape)

    def usual(self, what: Callable[[], object]) -> float:
        """The seconds that it takes as a rule."""
        return statistics.median(self.timed(what)[1] for _ in range(_LOOKS))

    def timed(self, what: Callable[[], T]) -> tuple[T, float]:
        """What comes of it, and the seconds until the device has done it."""
        _wait(self._run)
        began = time.monotonic()
        found = what()
        _wait(self._run)
        return found, time.monotonic() - began


def _written(tensors: Mapping[str, Tensor], file: Path) -> int:
    """Write a checkpoint's tensors; their bytes."""
    from trainer.sealed import write_sealed

    write_sealed(file, tensors, {})
    return file.stat().st_size


def _wait(run: Run) -> None:
    """Until the card has done what it was asked for."""
    if run.hardware.device == "cuda":
        import torch

        torch.cuda.synchronize()


def main(arguments: list[str]) -> int:
    """Exit code 0, whether it fits or not."""
    die_with(int(arguments[0]))
    trial = trial_from_json(json.load(sys.stdin))
    if trial.idle:
        step_back()
    tried = carry(trial)
    sys.stdout.write(json.dumps(asdict(tried) if tried else None) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
