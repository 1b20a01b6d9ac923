"""``python -m benchmarks.rated_steps RUN``: the steps of one epoch over what the stage ``prepare`` left in RUN.

Before every step the rate of a plain matrix product is taken in the same process. One line of JSON: operations a second
of each step and of the product before it, both in the number format of the training.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import torch

from benchmarks.flops import needed
from benchmarks.product import Product
from trainer.examples import Corpus
from trainer.loop import StepReport, micro_batches, train
from trainer.model.decoder import Decoder
from trainer.model.lora import new_adapter
from trainer.objectives.interface import Example, Objective
from trainer.packing import build_pack
from trainer.pipeline.sources import base_of
from trainer.references import with_pair_references
from trainer.run_files import RunFiles, read_inputs
from trainer.stages.ground import read_ground
from trainer.stages.prepare import read_prepared


class _Clock:
    """Takes the time of steps, and before each of them that of the product."""

    def __init__(self, dtype: torch.dtype) -> None:
        self._product = Product(dtype)
        self._began = self._seconds = 0.0
        self.peaks: list[float] = []
        self.seconds: list[float] = []

    def before_micro_step(self) -> None:
        if self._began:
            self._seconds += time.perf_counter() - self._began
        else:
            self.peaks.append(self._product.rate())
        self._began = time.perf_counter()

    def after_example(self, objective: Objective, example: Example, loss: float) -> None:
        return

    def after_step(self, report: StepReport) -> None:
        self.seconds.append(self._seconds + time.perf_counter() - self._began)
        self._began = self._seconds = 0.0


def main(folder: Path) -> None:
    """Take the steps and write the line."""
    files = RunFiles(folder)
    inputs = read_inputs(files)
    torch.set_num_threads(inputs.threads)
    torch.set_flush_denormal(True)
    recipe, base = inputs.recipe, read_ground(inputs, base_of(inputs))
    budget = recipe.optimiser.micro_batch_tokens
    examples = with_pair_references(Decoder(base), read_prepared(files.data).examples, budget, lambda: None)
    steps = Corpus(tuple(examples), (), (), {}).steps(recipe, inputs.seed, 0)
    generator = torch.Generator().manual_seed(inputs.seed)
    adapter = new_adapter(base.config, recipe.lora.rank, recipe.lora.alpha, generator)
    clock = _Clock(base.dtype)
    once = recipe.optimiser.model_copy(update={"epochs": 1, "least_steps": 0})
    train(Decoder(base, adapter), adapter.parameters(), lambda _: steps, once, clock)
    rates = []
    for parts, seconds in zip(steps, clock.seconds, strict=True):
        packs = [
            build_pack([item for work in group for item in work.example.items])
            for group in micro_batches(parts, budget)
        ]
        rates.append(sum(needed(base.config, recipe.lora.rank, pack) for pack in packs) / seconds)
    sys.stdout.write(json.dumps({"rates": rates, "peaks": clock.peaks, "format": str(base.dtype)}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
