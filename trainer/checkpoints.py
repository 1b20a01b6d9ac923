"""A training between two steps as a file, so that one that was killed goes on and ends with the same weights.

A step that was under way is begun anew: its gradients are summed in the same order again, so nothing is lost but
time. What it takes for the same bits is the same computation, which ``trainer.computation`` names.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch.amp import GradScaler

from trainer.distributed import ALONE, Together
from trainer.errors import NoRoom
from trainer.optimiser import AdamW
from trainer.sealed import read_sealed, write_sealed

# The newest, and the one before it where the newest turns out to be damaged.
KEPT = 2
GENERATOR = "generator"  # torch's, beside the trained tensors and their moments


class Notekeeper(Protocol):
    """Whoever keeps something of its own along the training, as JSON."""

    def notes(self) -> Mapping[str, Any]:
        """What it has to know again."""

    def take_up(self, notes: Mapping[str, Any], step: int) -> None:
        """Know it again; ``step`` steps were taken."""


class Trained(Protocol):
    """What a step changes."""

    @property
    def scaler(self) -> GradScaler:
        """What has the factor of the loss in float16."""

    def tensors(self) -> Mapping[str, torch.Tensor]:
        """All else, whole, also where each process has a share: then all have to ask for it."""

    def take_up_tensors(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Be what these say; they are one block of memory that goes when all let go of it."""


class CheckpointFiles(Protocol):
    """Where the checkpoints of one training lie."""

    def checkpoint(self, step: int) -> Path:
        """That of the training as it was after ``step`` steps."""

    def checkpoints(self) -> list[Path]:
        """Those there are, the oldest first; also what a kill left half written of one."""


@dataclass(frozen=True)
class Adapted:
    """An adapter's parameters and AdamW's moments."""

    parameters: Sequence[torch.Tensor]
    optimiser: AdamW
    scaler: GradScaler

    def tensors(self) -> dict[str, torch.Tensor]:
        """The trained tensors and AdamW's moments and step counts, by their place."""
        found = {f"{place}.weight": tensor.detach() for place, tensor in enumerate(self.parameters)}
        for place, state in self.optimiser.kept().items():
            found |= {f"{place}.{name}": value for name, value in state.items()}
        return found

    def take_up_tensors(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """The reverse."""
        states: dict[int, dict[str, torch.Tensor]] = {place: {} for place in range(len(self.parameters))}
        for name, value in tensors.items():
            place, what = name.split(".")
            if what == "weight":
                with torch.no_grad():
                    self.parameters[int(place)].copy_(value)
            else:
                # Memory of its own: what was read is one block for all of them.
                states[int(place)][what] = value.clone()
        self.optimiser.take_up({place: state for place, state in states.items() if state})


class Checkpoints:
    """Those of one training. ``belongs``: what it is made of; another's checkpoint is never taken. ``kept``: how many.

    Of several processes the first reads and writes them; what it reads, all take up.
    """

    def __init__(
        self,
        files: CheckpointFiles,
        belongs: str,
        keeper: Notekeeper,
        *,
        every_s: float,
        kept: int = KEPT,
        together: Together = ALONE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._files = files
        self._belongs = belongs
        self._keeper = keeper
        self._every_s = every_s
        self._kept = kept
        self._together = together
        self._clock = clock
        self._written_at = clock()

    def restore(self, trained: Trained) -> int:
        """Bring everything to where the newest whole checkpoint left it; the steps taken (0: there is none).

        What is newer and damaged, half written or another training's is removed.
        """
        first = self._together.place.first
        found = self._together.first(newest(self._files, self._belongs, Path.unlink) if first else None)
        if not found:
            return 0
        tensors, notes = found
        trained.take_up_tensors({name: value for name, value in tensors.items() if name != GENERATOR})
        trained.scaler.load_state_dict(notes["scaler"])
        _set_generators(tensors[GENERATOR], notes["generators"])
        self._keeper.take_up(notes["kept"], notes["step"])
        return int(notes["step"])

    @property
    def due(self) -> bool:
        """Whether it is time to write one."""
        return self._clock() - self._written_at >= self._every_s

    def put_off(self) -> None:
        """Count the time until the next one from now on."""
        self._written_at = self._clock()

    def after_step(self, step: int, trained: Trained) -> None:
        """Write one where it is time to; ``step`` steps were taken. Raises NoRoom."""
        if self._together.place.first and self.due:
            self.write(step, trained)

    def write(self, step: int, trained: Trained) -> None:
        """Write one; ``step`` steps were taken. Where there is no room, the oldest make some, and the newest stays.

        Raises NoRoom; then what was there before is there still.
        """
        tensors = trained.tensors()
        if not self._together.place.first:
            return
        whole = {**tensors, GENERATOR: torch.get_rng_state()}
        notes = {
            "belongs": self._belongs,
            "step": step,
            "scaler": trained.scaler.state_dict(),
            "generators": {"python": random.getstate(), "numpy": _numpy_state()},
            "kept": dict(self._keeper.notes()),
        }
        try:
            write_sealed(self._files.checkpoint(step), whole, notes)
        except NoRoom:
            older = self._files.checkpoints()[:-1]
            if not older:
                raise
            for path in older:
                path.unlink()
            write_sealed(self._files.checkpoint(step), whole, notes)
        for path in self._files.checkpoints()[: -self._kept]:
            path.unlink()
        self._written_at = self._clock()


def newest(
    files: CheckpointFiles, belongs: str, pass_over: Callable[[Path], object] = lambda path: None
) -> tuple[dict[str, torch.Tensor], dict[str, Any]] | None:
    """Tensors and notes of the newest whole checkpoint of what is made of ``belongs``; None where there is none.

    ``pass_over``: called with each newer one that is damaged, half written or another training's.
    """
    for path in reversed(files.checkpoints()):
        found = read_sealed(path)
        if found and found[1]["belongs"] == belongs:
            return found
        pass_over(path)
    return None


def _numpy_state() -> list[Any]:
    name, key, *rest = np.random.get_state(legacy=True)
    return [name, np.asarray(key).tolist(), *rest]


def _set_generators(torchs: torch.Tensor, others: Mapping[str, Any]) -> None:
    torch.set_rng_state(torchs)
    version, state, gauss = others["python"]
    random.setstate((version, tuple(state), gauss))
    name, key, *rest = others["numpy"]
    np.random.set_state((name, np.array(key, dtype=np.uint32), *rest))
