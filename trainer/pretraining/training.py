"""A model and all that moves it, as a run says: what preflight measures and what the loop trains is this."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray

from configs.pretraining.schema import Run
from trainer.distributed import ALONE, Together
from trainer.model.cross_entropy import NOTHING, Cost
from trainer.model.decoder import Decoder
from trainer.model.fresh import Parameter, fresh_weights, parameters_of
from trainer.model.sequences import Sequences, sequences_of
from trainer.precision import DTYPES, loss_scaler
from trainer.pretraining.optimisers import Optimisers, share_at
from trainer.pretraining.shape import decoder_config
from trainer.pretraining.shares import Shares


@dataclass(frozen=True)
class Found:
    """What the gradient of a step was found with: ``loss``, nats a token; ``squares``, the z-loss' before its weight.

    ``norm``: the gradient's length, before it is clipped. ``loss_scale``: what the loss was multiplied by in float16.
    """

    loss: float
    squares: float
    norm: float
    loss_scale: float | None


class Training:
    """A step is ``gradient``, then ``move`` or ``give_up``: until then the weights are those before it.

    Every process of ``together`` takes the same steps, of its own rows of each batch.
    """

    def __init__(self, run: Run, together: Together = ALONE) -> None:
        self.run = run
        self.together = together
        place = together.place
        # One card a process, in the order of the processes on each machine.
        card = f":{place.rank % place.here}" if run.hardware.device == "cuda" else ""
        self.device = torch.device(run.hardware.device + card)
        dtype = DTYPES[run.hardware.precision]
        self.weights = fresh_weights(
            decoder_config(run.model),
            dtype,
            run.model.initial_std,
            torch.Generator().manual_seed(run.train.seed),
            self.device,
            shared_out=together.lockstep,
        )
        self.decoder = Decoder(self.weights)
        self.parameters: list[Parameter] = list(parameters_of(self.weights))
        self.shares = Shares(place.rank, place.size)
        self.optimiser = Optimisers(self.parameters, run.train, self.shares)
        self.scaler = loss_scaler(dtype, run.train.loss_scale, run.hardware.device)

    def gradient(self, rows: NDArray[np.int64]) -> Found:
        """Find the gradient of a step's mean loss; ``rows`` [sequences, length + 1] are this process's part of it."""
        plan, tokens = self.run.train, self.run.step_tokens
        scale = float(self.scaler.scale(torch.ones((), device=self.device)))
        cost = NOTHING
        for batch in self._micro_batches(rows):
            cost += self.decoder.learn(batch, factor=scale / tokens, z_loss=plan.z_loss)
        if self.together.lockstep:
            self._take_own_gradients()
        self.together.sum_gradients([each.tensor for each in self.parameters if not each.shared])
        cost = self._of_all(cost)
        norm = self._norm()
        if self.scaler.is_enabled():
            if not math.isfinite(norm):
                self._overflow_everywhere()
            self.scaler.unscale_(self.optimiser)
        told = scale if self.scaler.is_enabled() else None
        return Found(cost.nats / tokens, cost.squares / tokens, norm / scale, told)

    def move(self, step: int, found: Found) -> bool:
        """Take step ``step`` (from 0) along the gradient; False where nothing moved, since float16 overflowed."""
        plan, context = self.run.train, self.run.model.context
        steps, decay = plan.steps(context), plan.decay_steps(context)
        self.optimiser.set_share(share_at(step, steps, plan.warmup_steps, decay, plan.decay_to))
        moves = math.isfinite(found.norm)
        if moves and found.norm > plan.clip:
            shrink = plan.clip / found.norm
            for each in self.parameters:
                if each.tensor.grad is not None:
                    each.tensor.grad.mul_(shrink)
        self.scaler.step(self.optimiser)
        self.scaler.update()
        self.optimiser.clear_gradients()
        return moves

    def give_up(self) -> None:
        """Take no step along the gradient that was found; the factor of the loss has to be set anew then."""
        if self.scaler.is_enabled():
            # It counts what was looked at, and would not look twice.
            self.scaler.update()
        self.optimiser.clear_gradients()

    def step(self, rows: NDArray[np.int64], step: int) -> Found:
        """The whole of a step."""
        found = self.gradient(rows)
        self.move(step, found)
        return found

    def cost(self, rows: NDArray[np.int64]) -> Cost:
        """What the tokens of all processes' rows cost; nothing is learned."""
        return self._of_all(sum(map(self.decoder.cost, self._micro_batches(rows)), NOTHING))

    def tensors(self) -> dict[str, torch.Tensor]:
        """All weights and what their optimisers know of them, whole; every process has to ask at the same time."""
        found: dict[str, torch.Tensor] = {}
        kept = self.optimiser.kept()
        for each in self.parameters:
            found[f"{each.name}/weight"] = self.shares.whole(each, each.tensor.detach()).cpu()
            for name, value in kept.get(each.name, {}).items():
                # A count of steps is no share of anything.
                whole = self.shares.whole(each, value) if value.dim() else value
                found[f"{each.name}/{name}"] = whole.cpu()
        return found

    def take_up_tensors(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """The reverse; whoever wrote them, in however many processes."""
        kept: dict[str, dict[str, torch.Tensor]] = {}
        of = {each.name: each for each in self.parameters}
        for full, value in tensors.items():
            name, _, what = full.rpartition("/")
            parameter = of[name]
            if what == "weight":
                with torch.no_grad():
                    parameter.tensor.copy_(self.shares.own(parameter, value))
            elif value.dim():
                # Memory of its own: what was read is one block for all of them.
                kept.setdefault(name, {})[what] = self.shares.own(parameter, value).to(self.device, copy=True)
            else:
                kept.setdefault(name, {})[what] = value.clone()
        self.optimiser.take_up(kept)

    def _micro_batches(self, rows: NDArray[np.int64]) -> Iterator[Sequences]:
        size = self.run.train.micro_batch
        for first in range(0, len(rows), size):
            yield sequences_of(rows[first : first + size], self.run.hardware.attention, self.device)

    def _of_all(self, cost: Cost) -> Cost:
        """The cost that all processes found together, the same in each."""
        return sum(self.together.gathered(cost), NOTHING)

    def _take_own_gradients(self) -> None:
        # Seconds to import, and of no use to a training in one process.
        from trainer.model.sharded import Held

        for layer in self.weights.layers:
            if isinstance(layer.at_hand, Held):
                layer.at_hand.own_gradients()

    def _norm(self) -> float:
        """The length of the whole gradient, wherever its rows are."""

        def squares(shared: bool) -> torch.Tensor:
            found = [each.tensor.grad for each in self.parameters if each.shared is shared]
            norms = [torch.linalg.vector_norm(each) for each in found if each is not None]
            return torch.stack(norms).square().sum() if norms else torch.zeros((), device=self.device)

        mine = squares(shared=True)
        if self.together.lockstep:
            dist.all_reduce(mine)
        return float((mine + squares(shared=False)).sqrt())

    def _overflow_everywhere(self) -> None:
        """Have every process see what one saw in its share: all leave this step out, or none."""
        for each in self.parameters:
            if each.tensor.grad is not None:
                each.tensor.grad.fill_(torch.inf)
