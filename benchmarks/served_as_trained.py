"""How far what is served is from what was trained: the adapter over the model's file, and merged into its weights."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.learned import served_model
from engine.served import AdapterFile
from trainer.fitting.merging import merge
from trainer.model.adapter_file import load_weights
from trainer.model.decoder import Decoder
from trainer.parity import parity
from trainer.pipeline.sources import base_of
from trainer.run_files import RunFiles, read_inputs
from trainer.stages.export import parity_items
from trainer.stages.ground import read_ground
from trainer.stages.prepare import read_prepared


@dataclass(frozen=True)
class Divergence:
    """KL(torch || llama.cpp) in nats a token: ``over`` the file as pulled, and ``merged`` as it would be served."""

    over: float
    merged: float


def served_as_trained(run: Path) -> Divergence:
    """Of the training whose files are in ``run``, on the answers that its own export compares.

    Raises TrainingDataBroken, NotMergeable and what LocalModel raises.
    """
    files = RunFiles(run)
    inputs = read_inputs(files)
    decoder = Decoder(read_ground(inputs, base_of(inputs)), load_weights(files.weights))
    items = parity_items(read_prepared(files.data), inputs.training.evaluation.parity_answers)
    with tempfile.TemporaryDirectory(prefix="enlace-b-") as folder:
        merged = Path(folder) / "merged.gguf"
        merge(inputs.base, inputs.base, [(files.adapter, 1.0)], merged, inputs.engine.form.merged_type)
        with served_model(inputs, merged) as served:
            within = parity(decoder, served, items)
    with served_model(inputs, inputs.base) as served:
        served.set_adapters([AdapterFile(files.adapter, 1.0)])
        return Divergence(parity(decoder, served, items), within)
