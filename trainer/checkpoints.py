"""A training between two steps as a file, so that one that was killed goes on and ends with the same weights.

A step that was under way is begun anew: its gradients are summed in the same order again, so nothing is lost but
time. What it takes for the same bits is the same computation, which ``trainer.computation`` names.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch.amp import GradScaler

from trainer.distributed import ALONE, Together
from trainer.optimiser import AdamW
from trainer.run_files import RunFiles
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


@dataclass(frozen=True)
class Trained:
    """What a step changes: the parameters, AdamW's moments, and the factor of the loss in float16."""

    parameters: Sequence[torch.Tensor]
    optimiser: AdamW
    scaler: GradScaler


class Checkpoints:
    """Those of one training. ``belongs``: what it is made of; another's checkpoint is never taken.

    Of several processes the first reads and writes them; what it reads, all take up.
    """

    def __init__(
        self,
        files: RunFiles,
        belongs: str,
        keeper: Notekeeper,
        *,
        every_s: float,
        together: Together = ALONE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._files = files
        self._belongs = belongs
        self._keeper = keeper
        self._every_s = every_s
        self._together = together
        self._clock = clock
        self._written_at = clock()

    def restore(self, trained: Trained) -> int:
        """Bring everything to where the newest whole checkpoint left it; the steps taken (0: there is none).

        What is newer and damaged, half written or another training's is removed.
        """
        found = self._together.first(self._newest() if self._together.place.first else None)
        if not found:
            return 0
        tensors, notes = found
        _set_training(tensors, trained)
        trained.scaler.load_state_dict(notes["scaler"])
        _set_generators(tensors[GENERATOR], notes["generators"])
        self._keeper.take_up(notes["kept"], notes["step"])
        return int(notes["step"])

    def _newest(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]] | None:
        for path in reversed(self._files.checkpoints()):
            found = read_sealed(path)
            if found and found[1]["belongs"] == self._belongs:
                return found
            path.unlink()
        return None

    def after_step(self, step: int, trained: Trained) -> None:
        """Write one where it is time to; ``step`` steps were taken. Raises NoRoom."""
        if not self._together.place.first or self._clock() - self._written_at < self._every_s:
            return
        tensors = {**_training(trained), GENERATOR: torch.get_rng_state()}
        notes = {
            "belongs": self._belongs,
            "step": step,
            "scaler": trained.scaler.state_dict(),
            "generators": {"python": random.getstate(), "numpy": _numpy_state()},
            "kept": dict(self._keeper.notes()),
        }
        write_sealed(self._files.checkpoint(step), tensors, notes)
        for path in self._files.checkpoints()[:-KEPT]:
            path.unlink()
        self._written_at = self._clock()


def _training(trained: Trained) -> dict[str, torch.Tensor]:
    """The trained tensors and AdamW's moments and step counts, by their place."""
    found = {f"{place}.weight": tensor.detach() for place, tensor in enumerate(trained.parameters)}
    for place, state in trained.optimiser.kept().items():
        found |= {f"{place}.{name}": value for name, value in state.items()}
    return found


def _set_training(tensors: Mapping[str, torch.Tensor], trained: Trained) -> None:
    states: dict[int, dict[str, torch.Tensor]] = {place: {} for place in range(len(trained.parameters))}
    for name, value in tensors.items():
        if name == GENERATOR:
            continue
        place, what = name.split(".")
        if what == "weight":
            with torch.no_grad():
                trained.parameters[int(place)].copy_(value)
        else:
            # Memory of its own: what was read is one block for all of them.
            states[int(place)][what] = value.clone()
    trained.optimiser.take_up({place: state for place, state in states.items() if state})


def _numpy_state() -> list[Any]:
    name, key, *rest = np.random.get_state(legacy=True)
    return [name, np.asarray(key).tolist(), *rest]


def _set_generators(torchs: torch.Tensor, others: Mapping[str, Any]) -> None:
    torch.set_rng_state(torchs)
    version, state, gauss = others["python"]
    random.setstate((version, tuple(state), gauss))
    name, key, *rest = others["numpy"]
    np.random.set_state((name, np.array(key, dtype=np.uint32), *rest))
