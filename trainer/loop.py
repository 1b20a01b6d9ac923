"""The one training loop: steps of weighted objectives, micro-batches by tokens, AdamW, warmup and linear decay."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import torch

from configs.sections.training import OptimiserSettings
from trainer.checkpoints import Adapted, Checkpoints
from trainer.distributed import ALONE, Together
from trainer.errors import LossNotFinite
from trainer.model.decoder import Decoder
from trainer.objectives.interface import Example, Objective, Part
from trainer.optimiser import AdamW
from trainer.packing import build_pack, computed_tokens, in_packs
from trainer.precision import UNSCALED, LossScaler

Step = Sequence[Part]


@dataclass(frozen=True)
class StepReport:
    """What one step was: ``losses`` are each objective's mean, ``tokens`` how many were run (shared ones once).

    ``watched``: means of what the objectives report beside their losses. ``loss_scale``: what the loss was multiplied
    by in float16, None in the other formats. ``skipped``: the gradient overflowed, so the weights did not move.
    """

    step: int
    steps: int
    epoch: int
    loss: float
    losses: dict[str, float]
    watched: dict[str, float]
    learning_rate: float
    gradient_norm: float
    tokens: int
    loss_scale: float | None
    skipped: bool


class Callback(Protocol):
    """What the loop tells as it goes."""

    def before_micro_step(self) -> None:
        """Called before each forward: the place to let others go first."""

    def after_example(self, objective: Objective, example: Example, loss: float) -> None:
        """Called with the summed loss of each example before the weights move."""

    def after_step(self, report: StepReport) -> None:
        """Called when the step is over."""


class Found(NamedTuple):
    """What a step, or a process's share of it, came to: each objective's mean loss, the means of what is watched, the
    tokens run, and each example's summed loss in the order of the work.
    """

    losses: dict[str, float]
    watched: dict[str, float]
    tokens: int
    each: list[float]


@dataclass(frozen=True)
class _Work:
    """One example in one step: its objective and the factor that its summed loss has in the step's total."""

    objective: Objective
    example: Example
    factor: float


def train(
    decoder: Decoder,
    parameters: Sequence[torch.Tensor],
    epochs: Callable[[int], Sequence[Step]],
    settings: OptimiserSettings,
    callback: Callback,
    *,
    finished: Callable[[int], bool] = lambda epoch: False,
    checkpoints: Checkpoints | None = None,
    scaler: LossScaler = UNSCALED,
    together: Together = ALONE,
) -> int:
    """Train ``parameters``, those of the decoder's adapter, in place; returns the steps taken, earlier ones included.

    ``epochs(n)`` gives the steps of epoch n, as many in each; ``finished(n)``, asked after each epoch, ends early.
    Goes on from where ``checkpoints`` hold it. Raises LossNotFinite, the parameters then as they were before that step,
    but forgives an overflow that a smaller factor of ``scaler`` may heal; and NoRoom. Every process of ``together``
    takes the same steps, computing its share of each.
    """
    optimiser = AdamW(parameters, settings)
    trained = Adapted(parameters, optimiser, scaler)
    step = checkpoints.restore(trained) if checkpoints else 0
    # The number of steps in an epoch is the same in each.
    length = len(epochs(0))
    rounds = max(settings.epochs, -(-settings.least_steps // length))
    total = length * rounds
    # An epoch whose last step was taken is gone into once more, without steps, to hear whether it was the last.
    for epoch in range(max(0, step - 1) // length, rounds):
        for parts in epochs(epoch)[step - epoch * length :]:
            optimiser.rate = rate = settings.learning_rate * schedule(step, total, settings.warmup_steps)
            mine = accumulate(decoder, parts, settings.micro_batch_tokens, callback, scaler, together)
            together.sum_gradients(parameters)
            losses, watched, tokens, each = _summed(together.gathered(mine))
            for unit, example_loss in zip(_work_of(parts), each, strict=True):
                callback.after_example(unit.objective, unit.example, example_loss)
            factor = scaler.get_scale() if scaler.is_enabled() else None
            scaler.unscale_(optimiser)
            norm = float(torch.nn.utils.clip_grad_norm_(parameters, settings.clip))
            skipped = not math.isfinite(norm) and scaler.forgives()
            for name, value in (*losses.items(), *([] if skipped else [("gradient", norm)])):
                if not math.isfinite(value):
                    raise LossNotFinite(step=step + 1, objective=name, value=str(value))
            loss = sum(part.weight * losses[part.objective.name] for part in parts)
            scaler.step(optimiser)
            scaler.update()
            optimiser.clear_gradients()
            step += 1
            told = StepReport(step, total, epoch, loss, losses, watched, rate, norm, tokens, factor, skipped)
            callback.after_step(told)
            if checkpoints:
                checkpoints.after_step(step, trained)
        if finished(epoch):
            break
    return step


def schedule(step: int, steps: int, warmup: int) -> float:
    """The share of the full learning rate at ``step`` (from 0): up over ``warmup`` steps, then down to 0 linearly."""
    if step < warmup:
        return (step + 1) / (warmup + 1)
    return max(0.0, (steps - step) / max(1, steps - warmup))


def accumulate(
    decoder: Decoder,
    parts: Step,
    budget: int,
    callback: Callback,
    scaler: LossScaler = UNSCALED,
    together: Together = ALONE,
) -> Found:
    """Add the gradient of one step's loss, times the factor of ``scaler``, to the parameters.

    Of the gradient and of what is found it is this process's share: that of all processes is their sum.
    """
    losses = {part.objective.name: 0.0 for part in parts}
    watched: dict[str, float] = {}
    each: list[float] = []
    tokens = 0
    for group in micro_batches(parts, budget, together):
        callback.before_micro_step()
        items = [item for work in group for item in work.example.items]
        pack = build_pack(items)
        log_probs = decoder.log_probs(pack)
        total = torch.zeros(())
        spans = iter(pack.spans)
        for work in group:
            scored = [log_probs[slice(*next(spans))] for _ in work.example.items]
            size = _size(parts, work.objective)
            summed = work.objective.loss(work.example, scored)
            mean_share = summed / size
            total = total + work.factor * mean_share
            if work.factor:
                each.append(float(summed.detach()))
                losses[work.objective.name] += float(mean_share.detach())
                for name, value in work.objective.watched(work.example, scored).items():
                    watched[name] = watched.get(name, 0.0) + value / size
        scaler.scale(total).backward()
        tokens += len(pack.tokens) if group[0].factor else 0
    return Found(losses, watched, tokens, each)


def _summed(found: Sequence[Found]) -> Found:
    """What all processes found of a step."""
    losses: dict[str, float] = {}
    watched: dict[str, float] = {}
    for mine in found:
        for total, share in ((losses, mine.losses), (watched, mine.watched)):
            for name, value in share.items():
                total[name] = total.get(name, 0.0) + value
    each = [loss for mine in found for loss in mine.each]
    return Found(losses, watched, sum(mine.tokens for mine in found), each)


def micro_batches(parts: Step, budget: int, together: Together = ALONE) -> list[list[_Work]]:
    """The examples of a step that are this process's, in groups of at most ``budget`` tokens.

    Parts that share prompts stay together. In lockstep all processes have as many groups, filled up with work of
    factor 0.
    """
    work = _work_of(parts)
    sizes = computed_tokens([unit.example.items for unit in work])
    all_groups = []
    for cut in together.cut(sizes):
        share = work[cut]
        packs = in_packs([unit.example.items for unit in share], budget)
        all_groups.append([[share[index] for index in group] for group in packs])
    mine = all_groups[together.place.rank]
    if together.lockstep:
        most = max(len(groups) for groups in all_groups)
        mine += [[replace(work[0], factor=0.0)]] * (most - len(mine))
    return mine


def _work_of(parts: Step) -> list[_Work]:
    """The examples of a step in the order in which they are computed, by one process or by several."""
    work = [
        _Work(part.objective, example, part.weight)
        for part in parts
        for example in part.examples
        if part.weight and example.items
    ]
    # Examples of one prompt stand side by side, so that one pack computes it once for all their objectives.
    work.sort(key=lambda unit: unit.example.items[0].prompt)
    return work


def _size(parts: Step, objective: Objective) -> float:
    return sum(
        part.objective.size(example) for part in parts if part.objective is objective for example in part.examples
    )
