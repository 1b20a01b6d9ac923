"""The form of Hugging Face that a model is written in, read by transformers: its logits beside the trained ones."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import torch

from benchmarks.harness import without_peer
from benchmarks.homes import clean_environment
from benchmarks.peers.environments import HERE, peer
from benchmarks.plan import Plan
from benchmarks.processes import run
from benchmarks.rows import Row, row
from configs.home import Home
from configs.pretraining.composing import compose
from trainer.packing import Item, build_pack
from trainer.pretraining.forms import write_hugging_face
from trainer.pretraining.training import Training
from trainer.tokenizer.tokenizer import Tokenizer

BOUND = 1e-4  # of the spread of the logits: float32 on both sides, summed in another order
# Far from the initial weights, so that nothing is small by chance.
STD = "model.initial_std=0.3"


def exported(plan: Plan) -> list[Row]:
    """The largest difference between two logits. Raises MeasurementFailed."""
    notes: list[str] = []
    apart = None
    with tempfile.TemporaryDirectory(prefix="enlace-b-") as name, without_peer(notes):
        folder = Path(name)
        asked = compose("smoke", [STD], Home(folder), folder).run
        training, shape = Training(asked), asked.model
        tokenizer = Tokenizer.train([], shape.vocabulary, asked.data.tokenizer.special_tokens, 1)
        write_hugging_face(training.parameters, asked, tokenizer, folder / "model")
        tokens = np.random.default_rng(asked.train.seed).integers(0, shape.vocabulary, shape.context)
        np.save(folder / "tokens.npy", tokens)
        paths = [str(folder / each) for each in ("model", "tokens.npy", "logits.npy")]
        command = [peer("trl").python, str(HERE / "exported_logits.py"), *paths]
        run(command, clean_environment(), timeout=plan.pretrain.timeout_s)
        theirs = np.load(folder / "logits.npy")[:-1]
        with torch.no_grad():
            pack = build_pack([Item(tuple(tokens[:1].tolist()), tuple(tokens[1:].tolist()))])
            ours = training.decoder.logits(pack).numpy()
        apart = float(np.abs(ours - theirs).max() / ours.std())
    return [
        row(
            "exported form, largest difference of a logit",
            apart,
            "of their spread",
            bound=BOUND,
            bound_on="value",
            note=" ".join(["Beside transformers.", *notes]),
        )
    ]
