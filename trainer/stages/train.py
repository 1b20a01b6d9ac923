"""The adapter is trained. Writes ``train/adapter.safetensors``; checkpoints until then, so that a kill costs little."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from memory import runlog
from trainer.checkpoints import Checkpoints
from trainer.computation import computation
from trainer.distributed import Together, joined
from trainer.early_stop import EarlyStop, set_apart
from trainer.examples import Corpus
from trainer.lesson_losses import LessonLosses
from trainer.loop import StepReport, train
from trainer.model.adapter_file import read_gguf, save_weights
from trainer.model.decoder import Decoder
from trainer.model.lora import new_adapter
from trainer.objectives.interface import Example, Objective
from trainer.objectives.likelihood import Likelihood
from trainer.pipeline.artifacts import Adapter, BaseWeights, Beginning, TrainingData
from trainer.precision import loss_scaler
from trainer.rated import rating_groups
from trainer.reference_cache import ReferenceCache
from trainer.references import kept_examples, references_digest, with_pair_references
from trainer.run_files import discard_checkpoints
from trainer.stages.context import StageContext
from trainer.stages.ground import read_ground
from trainer.stages.prepare import Prepared, read_prepared
from trainer.watching import watched_chosen


class _Progress:
    """Tells the run's log of every step, and waits for the family before every micro-step."""

    def __init__(self, context: StageContext, early_stop: EarlyStop) -> None:
        self._context = context
        self._early_stop = early_stop
        self._share = 0.0
        self.tokens = 0
        self.skipped_steps = 0
        self.lessons = LessonLosses()
        # What the process that was killed had done.
        self.earlier_steps = 0
        self.earlier_tokens = 0

    def before_micro_step(self) -> None:
        self._context.pause()

    def after_example(self, objective: Objective, example: Example, loss: float) -> None:
        if isinstance(objective, Likelihood):
            self.lessons.add(example.name, loss, len(example.items[0].answer))

    def after_step(self, report: StepReport) -> None:
        self.tokens += report.tokens
        self.skipped_steps += report.skipped
        self._share = report.step / report.steps
        facts = {"step": report.step, "steps": report.steps, "epoch": report.epoch + 1, "loss": report.loss}
        facts |= {"learning_rate": report.learning_rate, **report.losses, **report.watched}
        # Of a skipped step the gradient is no number, which JSON has no way to write.
        facts |= {"skipped": True} if report.skipped else {"gradient_norm": report.gradient_norm}
        if report.loss_scale is not None:
            facts |= {"loss_scale": report.loss_scale}
        self._context.emit("step", self._share, facts)

    def notes(self) -> dict[str, Any]:
        return {
            "held_out_losses": self._early_stop.losses,
            "lesson_losses": self.lessons.notes(),
            "tokens": self.tokens,
            "share": self._share,
            "skipped_steps": self.skipped_steps,
        }

    def take_up(self, notes: Mapping[str, Any], step: int) -> None:
        self._early_stop.losses = list(notes["held_out_losses"])
        self.lessons.take_up(notes["lesson_losses"])
        self._share = float(notes["share"])
        self.skipped_steps = int(notes["skipped_steps"])
        self.tokens = self.earlier_tokens = int(notes["tokens"])
        self.earlier_steps = step
        self._context.emit("progress", self._share, {"resumed_at_step": step})

    def learned(self, epoch: int) -> bool:
        """Whether the epoch that just ended was the last that was worth its time."""
        self.lessons.end_epoch()
        enough = self._early_stop.enough()
        if self._early_stop.losses:
            self._context.emit(
                "progress", self._share, {"epoch": epoch + 1, "held_out_loss": self._early_stop.losses[-1]}
            )
        return enough


def train_adapter(context: StageContext, data: TrainingData, base: BaseWeights, begun: Beginning) -> Adapter:
    """Raises LossNotFinite, NotTrainable, TrainingDataBroken, NoRoom, SharesDoNotFit, ProcessLost."""
    training = context.inputs.training
    lockstep = training.frozen.keep == "shared_out"
    wait_s = training.budget.run_seconds
    with joined(context.place, training.distribution, context.files.meeting, wait_s, lockstep=lockstep) as together:
        _train(context, data, base, begun, together)
    if context.place.first:
        return Adapter.at(context.files.weights)
    # The first writes it, after this process has ended perhaps.
    return Adapter(sha256="", path=context.files.weights)


def _train(
    context: StageContext, data: TrainingData, ground: BaseWeights, begun: Beginning, together: Together
) -> None:
    inputs, recipe = context.inputs, context.inputs.recipe
    threads = max(1, inputs.threads // context.place.here)
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    start = time.monotonic()
    prepared = read_prepared(data.path)
    base = read_ground(inputs, ground, shared_out=together.lockstep)
    if begun.onward:
        adapter = read_gguf(begun.onward.adapter, base.config)
    else:
        generator = torch.Generator().manual_seed(inputs.seed)
        adapter = new_adapter(base.config, recipe.lora.rank, recipe.lora.alpha, generator)
    recompute = {"auto": base.in_blocks, "always": True, "never": False}[inputs.training.recompute]
    decoder = Decoder(base, adapter, recompute=recompute)
    made_by = f"{inputs.ground} {computation(base, threads, together)}"
    asking = time.monotonic()
    examples, watched = set_apart(prepared.examples, recipe.early_stop.share, inputs.seed)
    corpus = _with_references(context, Decoder(base), examples, prepared, made_by, together)
    if begun.onward:
        corpus = replace(corpus, learned=begun.onward.learned)
    asking_seconds = time.monotonic() - asking
    early_stop = EarlyStop(
        decoder, watched, recipe.early_stop, recipe.optimiser.micro_batch_tokens, context.pause, together
    )
    progress = _Progress(context, early_stop)
    every_s = inputs.training.budget.checkpoint_seconds
    belongs = belonging(context, made_by, references_digest(_asked_of(corpus)))
    checkpoints = Checkpoints(context.files, belongs, progress, every_s=every_s, together=together)
    steps = train(
        decoder,
        adapter.parameters(),
        lambda epoch: corpus.steps(recipe, inputs.seed, epoch),
        recipe.optimiser,
        progress,
        finished=progress.learned,
        checkpoints=checkpoints,
        scaler=loss_scaler(base.dtype, inputs.training.loss_scale),
        together=together,
    )
    if not context.place.first:
        return
    save_weights(adapter, context.files.weights)
    discard_checkpoints(context.files)
    context.report.update(
        steps=steps,
        reference_seconds=asking_seconds,
        held_out_losses=early_stop.losses,
        lesson_losses=progress.lessons.report(),
        tokens=progress.tokens,
        skipped_steps=progress.skipped_steps,
        earlier_steps=progress.earlier_steps,
        processes=context.place.size,
        precision=str(decoder.dtype).removeprefix("torch."),
        tokens_per_second=(progress.tokens - progress.earlier_tokens) / (time.monotonic() - start),
        **watched_chosen(runlog.read(context.files.folder)[0]),
    )


def _with_references(
    context: StageContext,
    frozen: Decoder,
    examples: Sequence[Example],
    prepared: Prepared,
    made_by: str,
    together: Together,
) -> Corpus:
    """All that is trained, with what the base says of it."""
    inputs, recipe = context.inputs, context.inputs.recipe
    cache = None
    if context.place.first:
        cache = ReferenceCache(inputs.cache, made_by, inputs.training.reference_cache_mb << 20)
    budget = recipe.optimiser.micro_batch_tokens
    told = (budget, context.pause, cache, together)
    if recipe.preference_weight:
        examples = with_pair_references(frozen, examples, *told)
    distilled = kept_examples(frozen, prepared.taught, recipe.distillation_kept_tokens, *told)
    itself = [(item, item) for item in prepared.replay]
    replay = kept_examples(frozen, itself, recipe.replay.kept_tokens, *told)
    ratings = with_pair_references(frozen, rating_groups(prepared.ratings, budget, inputs.seed), *told)
    if cache:
        cache.write()
    by_item = {item: example for (item, _), example in zip(prepared.taught, distilled, strict=True)}
    return Corpus(tuple(examples), tuple(replay), tuple(ratings), by_item)


def _asked_of(corpus: Corpus) -> list[Example]:
    return [*corpus.lessons, *corpus.distilled.values(), *corpus.replay, *corpus.ratings]


def belonging(context: StageContext, made_by: str, references: str) -> str:
    """What a checkpoint of this training belongs to: the data, the base and the arithmetic, what the base says of it,
    the recipe and the seed.
    """
    inputs = context.inputs
    data = hashlib.sha256(context.files.data.read_bytes()).hexdigest()
    made_of = [data, made_by, references, inputs.recipe.model_dump(), inputs.seed]
    made_of += [inputs.onward.as_json()] if inputs.onward else []
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()
