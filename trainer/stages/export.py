"""The adapter is written for llama.cpp and held against what was trained. Writes ``export/adapter.gguf``."""

from __future__ import annotations

import torch

from engine.served import AdapterFile
from trainer.errors import ParityBroken
from trainer.model.adapter_file import load_weights, write_gguf
from trainer.model.decoder import Decoder
from trainer.packing import Item
from trainer.parity import parity
from trainer.pipeline.artifacts import Adapter, BaseWeights, PreferencePairs, ServedWeights, TrainingData, digest_of
from trainer.routing import route_of
from trainer.stages.context import StageContext
from trainer.stages.ground import read_ground
from trainer.stages.prepare import Prepared, read_prepared


def export_adapter(
    context: StageContext, trained: Adapter, data: TrainingData, pairs: PreferencePairs, ground: BaseWeights
) -> ServedWeights:
    """Raises ParityBroken when the served function is not the trained one, and what engine.native raises."""
    inputs = context.inputs
    torch.set_num_threads(inputs.threads)
    base = read_ground(inputs, ground)
    adapter = load_weights(trained.path)
    decoder = Decoder(base, adapter)
    prepared = read_prepared(data.path)
    taught = {example.name for example in prepared.examples}
    route = route_of([lesson for lesson in pairs.lessons if lesson.id in taught], inputs.recipe.route)
    write_gguf(adapter, base.config, context.files.adapter, route)
    made = ServedWeights(sha256=digest_of(context.files.adapter), adapters=(AdapterFile(context.files.adapter, 1.0),))
    context.emit("progress", 0.5, {})
    items = parity_items(prepared, inputs.training.evaluation.parity_answers)
    with context.served_model(ground) as served:
        served.set_adapters(context.candidate(ground, made))
        divergence = parity(decoder, served, items)
    bound = inputs.training.gate.parity_kl
    context.emit("measure", 1.0, {"name": "parity_kl", "value": divergence})
    context.report.update(parity_kl=divergence, adapter_bytes=context.files.adapter.stat().st_size)
    if not divergence <= bound:
        raise ParityBroken(kl=divergence, bound=bound)
    return made


def parity_items(prepared: Prepared, count: int) -> list[Item]:
    """Held-out answers, half of them of lessons in untrained wordings and half of unrelated prompts."""
    asked = [Item(q.prompt, q.chosen) for q in prepared.questions if q.held_out][: -(-count // 2)]
    return [*asked, *prepared.unrelated[: count - len(asked)]]
