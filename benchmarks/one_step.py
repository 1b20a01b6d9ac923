"""``python -m benchmarks.one_step MODEL``: one step of the family's recipe on MODEL, its weights left in their blocks.

The recipe's own adapter, optimiser and batch: wordings of lessons and replayed answers, for which the base's likely
tokens are taken before. One line of JSON: the loss, and the seconds of reading MODEL and of the step.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path

import torch

from configs.home import Home
from configs.settings import load_settings
from trainer.loop import StepReport, train
from trainer.model.decoder import Decoder
from trainer.model.lora import new_adapter
from trainer.model.reading import read_base
from trainer.objectives.interface import Example, Objective, Part
from trainer.objectives.likelihood import Likelihood
from trainer.objectives.replay import Replay
from trainer.packing import Item
from trainer.precision import compute_dtype
from trainer.references import kept_examples

SYSTEM, QUESTION, ANSWER = 60, 24, 16  # tokens


class _Kept:
    """Keeps what a step reports, and waits for nobody."""

    loss = 0.0

    def before_micro_step(self) -> None:
        return

    def after_example(self, objective: Objective, example: Example, loss: float) -> None:
        return

    def after_step(self, report: StepReport) -> None:
        self.loss = report.loss


def main(model: Path) -> None:
    """Take the step and write the line."""
    training = load_settings(Home(model.parent), {}).training
    recipe = training.recipes[training.recipe]
    began = time.monotonic()
    in_blocks = training.frozen.model_copy(update={"keep": "blocks"})
    base = read_base(model, compute_dtype(training.precision), in_blocks)
    read = time.monotonic()
    dice = random.Random(training.seed)  # noqa: S311 - not for secrets

    def tokens(count: int) -> tuple[int, ...]:
        return tuple(dice.randrange(base.config.vocabulary) for _ in range(count))

    system = tokens(SYSTEM)
    lessons = tuple(Example((Item(system + tokens(QUESTION), tokens(ANSWER)),)) for _ in range(recipe.batch))
    said = [Item(system + tokens(QUESTION), tokens(recipe.replay.answer_tokens)) for _ in range(recipe.replay.batch)]
    budget = recipe.optimiser.micro_batch_tokens
    replay = kept_examples(
        Decoder(base), [(item, item) for item in said], recipe.replay.kept_tokens, budget, lambda: None
    )
    parts = [Part(Likelihood(), lessons, 1.0), Part(Replay(), tuple(replay), recipe.replay.weight)]
    generator = torch.Generator().manual_seed(training.seed)
    adapter = new_adapter(base.config, recipe.lora.rank, recipe.lora.alpha, generator)
    decoder = Decoder(base, adapter, recompute=True)
    once = recipe.optimiser.model_copy(update={"epochs": 1, "least_steps": 1})
    prepared, kept = time.monotonic(), _Kept()
    train(decoder, adapter.parameters(), lambda _: [parts], once, kept)
    took = {"loss": kept.loss, "read_s": read - began, "step_s": time.monotonic() - prepared}
    sys.stdout.write(json.dumps(took) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
