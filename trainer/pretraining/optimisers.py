"""What moves all weights of a model: Muon or AdamW its matrices, AdamW its embedding and its gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from configs.pretraining.plan import Plan
from trainer.model.fresh import Parameter
from trainer.muon import Muon
from trainer.optimiser import AdamW, Moving, OneGroup
from trainer.precision import compute_dtype
from trainer.pretraining.shares import ALL_HERE, Shares


class Optimisers(OneGroup):
    """Each parameter's own optimiser, as one that a GradScaler knows.

    Weight decay pulls matrices and the embedding, never a gain: it is what a norm's numbers are measured by.
    """

    def __init__(self, parameters: Sequence[Parameter], plan: Plan, shares: Shares = ALL_HERE) -> None:
        super().__init__(_tensors(parameters))
        self.share = 1.0
        by_muon = ("matrix",) if plan.optimiser == "muon" else ()
        matrices = [each for each in parameters if each.kind in by_muon]
        decayed = [each for each in parameters if each.kind not in (*by_muon, "gain")]
        gains = [each for each in parameters if each.kind == "gain"]
        undecayed = plan.adamw.model_copy(update={"weight_decay": 0.0})
        self._parts: list[tuple[list[Parameter], Moving, float]] = [
            (decayed, AdamW(_tensors(decayed), plan.adamw), plan.adamw.learning_rate),
            (gains, AdamW(_tensors(gains), undecayed), plan.adamw.learning_rate),
        ]
        if matrices:
            muon = Muon(
                _tensors(matrices),
                [each.parts for each in matrices],
                plan.muon,
                # bfloat16 where the processor multiplies it, whatever the model is computed in; float16 is too short.
                compute_dtype("auto") if matrices[0].tensor.device.type == "cpu" else torch.bfloat16,
                whole=lambda place, tensor: shares.whole(matrices[place], tensor),
                own=lambda place, tensor: shares.own(matrices[place], tensor),
            )
            self._parts.append((matrices, muon, plan.muon.learning_rate))

    def set_share(self, share: float) -> None:
        """Move at this share of each optimiser's highest step size from now on."""
        self.share = share
        for _, optimiser, highest in self._parts:
            optimiser.rate = highest * share

    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Move all."""
        for _, optimiser, _ in self._parts:
            optimiser.step()

    def clear_gradients(self) -> None:
        """Forget the gradients."""
        for _, optimiser, _ in self._parts:
            optimiser.clear_gradients()

    def kept(self) -> dict[str, dict[str, torch.Tensor]]:
        """What each parameter's optimiser knows of it, by the parameter's name."""
        return {
            parameters[place].name: state
            for parameters, optimiser, _ in self._parts
            for place, state in optimiser.kept().items()
        }

    def take_up(self, kept: Mapping[str, Mapping[str, torch.Tensor]]) -> None:
        """Go on from what was kept, and from nothing else."""
        for parameters, optimiser, _ in self._parts:
            places = enumerate(parameters)
            optimiser.take_up({place: kept[each.name] for place, each in places if each.name in kept})


def _tensors(parameters: Sequence[Parameter]) -> list[torch.Tensor]:
    return [each.tensor for each in parameters]


def share_at(step: int, steps: int, warmup: int, decay: int, last: float) -> float:
    """The share of the highest step size at ``step`` (from 0) of ``steps``.

    Up over ``warmup`` steps, level, then over the last ``decay`` ones straight down to ``last``: warmup, stable, decay
    (arXiv 2404.06395, 4).
    """
    rising = min(1.0, (step + 1) / (warmup + 1))
    left = min(1.0, (steps - 1 - step) / decay) if decay else 1.0
    return rising * (last + (1.0 - last) * left)
