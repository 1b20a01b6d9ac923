"""Loss and gradients of one batch of pairs: our decoder and objectives beside TRL's DPOTrainer, both in float32."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from benchmarks.harness import without_peer
from benchmarks.homes import starter_model
from benchmarks.peers.environments import HERE, peer
from benchmarks.plan import LearningPlan, Plan
from benchmarks.recipe import ALPHA, BETA, RANK, SEED, pairs, peers_recipe
from benchmarks.rows import Row, row
from benchmarks.training import PEER, peer_run, peers_base, prepared_pairs
from trainer.loop import StepReport, accumulate
from trainer.model.decoder import Decoder
from trainer.model.lora import LoraAdapter, new_adapter
from trainer.model.reading import BaseWeights, read_base
from trainer.objectives.apo_zero import ApoZero
from trainer.objectives.interface import Example, Objective, Part
from trainer.objectives.preference import Preference
from trainer.references import with_pair_references

BOUND = 1e-4
# What TRL calls it, and ours.
LOSSES: dict[str, Callable[[float], Objective]] = {"sigmoid": Preference, "apo_zero": ApoZero}
MODULES = {
    "q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.o_proj",
    "gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj",
}  # fmt: skip
# An adapter that has learned something: with B at zero, as it begins, A has no gradient and the loss is log 2.
LEARNED = 0.02
TOKENS = 100_000  # all pairs in one micro-batch


@dataclass(frozen=True)
class Computed:
    """A loss, and its gradient by every LoRA matrix, by PEFT's names."""

    loss: float
    gradients: dict[str, torch.Tensor]


class _Alone:
    """Nobody waits while a benchmark computes."""

    def before_micro_step(self) -> None:
        """Go on."""

    def after_example(self, objective: Objective, example: Example, loss: float) -> None:
        """Keep nothing."""

    def after_step(self, report: StepReport) -> None:
        """Say nothing."""


def gradients(plan: Plan) -> list[Row]:
    """Each loss's distance from TRL's, and the greatest distance between two entries of the gradients."""
    notes: list[str] = []
    rows: list[Row] = []
    with without_peer(notes), tempfile.TemporaryDirectory(prefix="enlace-b-") as folder:
        python, theirs_base = peer("trl").python, peers_base(plan.learning)
        base = read_base(starter_model())
        adapter = _learned(base)
        save_file({name: each.detach() for name, each in _named(adapter).items()}, Path(folder) / "weights")
        examples = prepared_pairs(Path(folder) / "ours", plan.learning, plan.learning.gradient_pairs)
        references = with_pair_references(Decoder(base), examples, TOKENS, lambda: None)
        for loss, objective in LOSSES.items():
            mine = _ours(base, adapter, references, objective(BETA))
            other = _theirs(python, theirs_base, Path(folder), plan.learning, loss)
            rows += _rows(loss, mine, other, len(examples))
    return rows or [row("gradients", None, "", peer=PEER, note=" ".join(notes))]


def _learned(base: BaseWeights) -> LoraAdapter:
    generator = torch.Generator().manual_seed(SEED)
    adapter = new_adapter(base.config, RANK, ALPHA, generator)
    with torch.no_grad():
        for matrix in adapter.b.values():
            matrix.normal_(0.0, LEARNED, generator=generator)
    return adapter


def _named(adapter: LoraAdapter) -> dict[str, torch.Tensor]:
    """The adapter's matrices by PEFT's names."""
    return {
        f"base_model.model.model.layers.{layer}.{MODULES[projection]}.lora_{side}.weight": matrix
        for side, matrices in (("A", adapter.a), ("B", adapter.b))
        for (layer, projection), matrix in matrices.items()
    }


def _ours(base: BaseWeights, adapter: LoraAdapter, examples: list[Example], objective: Objective) -> Computed:
    for matrix in adapter.parameters():
        matrix.grad = None
    part = Part(objective, tuple(examples), 1.0)
    losses, *_ = accumulate(Decoder(base, adapter), [part], TOKENS, _Alone())
    found = {name: each.grad for name, each in _named(adapter).items() if each.grad is not None}
    return Computed(losses[objective.name], found)


def _theirs(python: str, base: Path, folder: Path, plan: LearningPlan, loss: str) -> Computed:
    """Raises PeerMissing."""
    pairs_file, recipe, found = folder / "pairs.jsonl", folder / "recipe.json", folder / "gradients"
    lines = (json.dumps(pair, ensure_ascii=False) for pair in pairs(plan.gradient_pairs))
    pairs_file.write_text("\n".join(lines), encoding="utf-8")
    threads = len(os.sched_getaffinity(0))
    named = peers_recipe(base, pairs_file, folder / "adapter", epochs=1, threads=threads)
    named |= {"loss": loss, "weights": str(folder / "weights"), "gradients": str(found)}
    recipe.write_text(json.dumps(named), encoding="utf-8")
    finished = peer_run([python, str(HERE / "trl_gradients.py"), str(recipe)], plan)
    return Computed(float(json.loads(finished.output.strip().splitlines()[-1])["loss"]), load_file(found))


def _rows(loss: str, mine: Computed, other: Computed, count: int) -> list[Row]:
    if mine.gradients.keys() != other.gradients.keys():
        raise ValueError("The two sides have gradients of different matrices.")
    differences = [mine.gradients[name] - theirs for name, theirs in other.gradients.items()]
    greatest = max(float(each.abs().max()) for each in differences)
    relative = _norm(differences) / _norm(list(other.gradients.values()))
    note = f"{count} pairs as one batch, beta {BETA}, float32; losses {mine.loss:.6f} and {other.loss:.6f}; "
    note += f"the gradients differ by {relative:.1e} of their length."
    return [
        row(f"{loss}, distance of the loss", abs(mine.loss - other.loss), "nats", peer=PEER, bound=BOUND,
            bound_on="value", note=note),
        row(f"{loss}, greatest distance of a gradient's entry", greatest, "", peer=PEER, bound=BOUND,
            bound_on="value", note=note),
    ]  # fmt: skip


def _norm(tensors: list[torch.Tensor]) -> float:
    return float(torch.stack([each.norm() for each in tensors]).norm())
