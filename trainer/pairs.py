"""Preference pairs from a file to an adapter, without a household: ``python -m trainer.pairs PAIRS.jsonl FOLDER``.

DPO with a likelihood term on conversational JSON Lines as TRL reads them, through the same loop as a run. Writes
``adapter.gguf`` and PEFT's two files, and prints one JSON object: seconds, peak_bytes, steps, tokens, losses.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import torch

from configs.home import Home
from configs.sections.training import RecipeSettings
from configs.settings import load_settings
from engine.catalogue import starter_path
from engine.messages import Message
from engine.prompt import render_pair
from engine.template import ChatTemplate
from engine.vocabulary import Vocabulary
from trainer.errors import TrainingDataBroken
from trainer.examples import Corpus
from trainer.loop import StepReport, train
from trainer.model.adapter_file import write_gguf, write_peft
from trainer.model.decoder import Decoder
from trainer.model.gguf_file import GGUFFile
from trainer.model.lora import new_adapter
from trainer.model.reading import read_base
from trainer.objectives.interface import Example
from trainer.packing import Item
from trainer.precision import compute_dtype
from trainer.references import with_pair_references


class _Losses:
    """Keeps what the loop tells."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.tokens = 0

    def before_micro_step(self) -> None:
        """Nobody else is here to wait for."""

    def after_step(self, report: StepReport) -> None:
        self.losses.append(report.loss)
        self.tokens += report.tokens


def read_pairs(path: Path, model: Path) -> list[Example]:
    """The file's pairs as tokens, in the model's own template. Raises TrainingDataBroken, which names the line."""
    vocabulary = Vocabulary.load(model)
    template = ChatTemplate.of(GGUFFile(model).metadata.get("tokenizer.chat_template"), vocabulary)
    examples = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            pair = json.loads(line)
            messages = [Message(m["role"], m["content"]) for m in pair["prompt"]]
            answers = [pair[side][0]["content"] for side in ("chosen", "rejected")]
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise TrainingDataBroken(path=str(path), line=number, reason=str(error)) from error
        tokens = [render_pair(template, vocabulary, messages, answer) for answer in answers]
        examples.append(Example(tuple(Item(tuple(p), tuple(a)) for p, a in tokens), name=str(number)))
    vocabulary.close()
    return examples


def train_pairs(
    pairs: Path, folder: Path, model: Path, recipe: RecipeSettings, *, seed: int, threads: int, dtype: torch.dtype
) -> dict[str, Any]:
    """Train and save; what it took. Raises TrainingDataBroken, NotTrainable, LossNotFinite, OSError."""
    start = time.monotonic()
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    base = read_base(model, dtype)
    adapter = new_adapter(base.config, recipe.lora.rank, recipe.lora.alpha, torch.Generator().manual_seed(seed))
    budget = recipe.optimiser.micro_batch_tokens
    examples = with_pair_references(Decoder(base), read_pairs(pairs, model), budget, lambda: None)
    corpus = Corpus(tuple(examples), ())
    progress = _Losses()
    steps = train(
        Decoder(base, adapter),
        adapter.parameters(),
        lambda epoch: corpus.steps(recipe, seed, epoch),
        recipe.optimiser,
        progress,
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_gguf(adapter, base.config, folder / "adapter.gguf")
    write_peft(adapter, folder, model.stem)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {
        "seconds": time.monotonic() - start,
        "peak_bytes": peak,
        "pairs": len(examples),
        "steps": steps,
        "tokens": progress.tokens,
        "losses": progress.losses,
        "precision": str(dtype).removeprefix("torch."),
    }


def main(arguments: list[str]) -> int:
    """Exit code 0; errors of the data or the model end with their own text."""
    settings = load_settings(Home.find(os.environ), os.environ).training
    parser = argparse.ArgumentParser(prog="python -m trainer.pairs")
    parser.add_argument("pairs", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path, default=None, help="a GGUF (default: the starter model)")
    parser.add_argument("--recipe", default="dpo", choices=sorted(settings.recipes))
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--precision", choices=("auto", "float32", "bfloat16"), default=settings.precision)
    parser.add_argument("--threads", type=int, default=settings.threads or len(os.sched_getaffinity(0)))
    options = parser.parse_args(arguments)
    recipe = settings.recipes[options.recipe]
    optimiser = {
        name: value
        for name, value in (("epochs", options.epochs), ("learning_rate", options.learning_rate))
        if value is not None
    }
    recipe = recipe.model_copy(
        update={"optimiser": recipe.optimiser.model_copy(update=optimiser), "batch": options.batch or recipe.batch}
    )
    report = train_pairs(
        options.pairs,
        options.folder,
        options.model or starter_path(),
        recipe,
        seed=settings.seed,
        threads=options.threads,
        dtype=compute_dtype(options.precision),
    )
    sys.stdout.write(json.dumps(report) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
