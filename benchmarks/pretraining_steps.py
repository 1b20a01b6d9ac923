"""Steps of a pretraining beside litgpt and transformers' Trainer: tokens a second, memory, share of a product's rate.

The same shape, batches and AdamW; each side in a process of its own, in turn. The first steps of each do not count:
memory is asked for there, and peers compile.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.harness import without_peer
from benchmarks.homes import clean_environment
from benchmarks.peers.environments import HERE, peer
from benchmarks.plan import Plan, PretrainPlan
from benchmarks.processes import run
from benchmarks.rows import Row, row
from configs.home import Home
from configs.pretraining.composing import compose
from configs.pretraining.schema import Run
from configs.pretraining.shape import Shape

SPEED_BOUND, MEMORY_BOUND, SHARE_BOUND = 1.1, 0.8, 0.9
OURS = "Enlace"
# Where each peer is installed, and the script that takes its steps.
PEERS = {"litgpt": ("litgpt", "litgpt_steps.py"), "transformers' Trainer": ("trl", "trainer_steps.py")}
SEED = 7
# Operations of a weight in a step for each token: two there, and two for each of its two gradients.
OPERATIONS = 6


@dataclass(frozen=True)
class Steps:
    """Steps of one side. ``tokens``: a second; ``share``: of what the product before each did (0: not asked)."""

    tokens: float
    peak_bytes: int
    loss: float
    share: float = 0.0


def steps(plan: Plan) -> list[Row]:
    """Both rows of each comparison, and the share of the peak. Raises MeasurementFailed."""
    pretrain = plan.pretrain
    found: dict[str, list[Steps]] = {name: [] for name in (OURS, *PEERS)}
    notes: list[str] = []
    with tempfile.TemporaryDirectory(prefix="enlace-b-") as folder:
        made = _task(pretrain, Path(folder))
        commands = {OURS: [sys.executable, "-m", "benchmarks.one_pretraining"]}
        for name, (environment, script) in PEERS.items():
            with without_peer(notes):
                commands[name] = [peer(environment).python, str(HERE / script)]
        for number in range(pretrain.rounds):
            order = list(commands) if number % 2 == 0 else list(reversed(commands))
            for name in order:
                found[name].append(_measured(commands[name], made, pretrain))
    mine = found[OURS]
    fastest = max((name for name in PEERS if found[name]), key=lambda name: _tokens(found[name]), default="")
    losses = ", ".join(f"{name} {each[0].loss:.3f}" for name, each in found.items() if each)
    note = " ".join([f"{pretrain.batch} × {pretrain.length} tokens, last loss: {losses}.", *notes])
    rows = [
        row(
            "pretraining, tokens",
            _tokens(mine),
            "a second",
            peer=fastest,
            peer_value=_tokens(found[fastest]) if fastest else None,
            bound=SPEED_BOUND,
            better="higher",
            samples=len(mine),
            note=note,
        ),
        row(
            "pretraining, share of the product",
            median(each.share for each in mine),
            "of its rate",
            bound=SHARE_BOUND,
            bound_on="value",
            better="higher",
            samples=len(mine),
        ),
    ]
    for name in PEERS:
        memory = median(each.peak_bytes for each in found[name]) / 2**20 if found[name] else None
        rows.append(
            row(
                f"pretraining, peak memory beside {name}",
                median(each.peak_bytes for each in mine) / 2**20,
                "MiB",
                peer=name,
                peer_value=memory,
                bound=MEMORY_BOUND,
                samples=len(mine),
            )
        )
    return rows


def needed(shape: Shape, sequences: int) -> float:
    """Operations of the products of a step of so many sequences, half of the attention's square counted."""
    gains = shape.layers * 2 * (shape.width + shape.head_size) + shape.width
    tokens = sequences * shape.context
    attention = OPERATIONS * shape.layers * shape.heads * shape.head_size * shape.context
    return float(tokens * (OPERATIONS * (shape.parameters - gains) + attention))


def _task(pretrain: PretrainPlan, folder: Path) -> dict[str, Any]:
    threads = len(os.sched_getaffinity(0))
    changed = [
        f"hardware.threads={threads}",
        f"hardware.precision={pretrain.precision}",
        "train.optimiser=adamw",
        "train.z_loss=0",
        f"train.batch={pretrain.batch}",
        f"train.micro_batch={pretrain.batch}",
        f"train.tokens={pretrain.steps * pretrain.batch * pretrain.length}",
        "train.warmup_steps=0",
        "train.decay_share=0",
        f"model.context={pretrain.length}",
    ]
    asked: Run = compose(pretrain.run, changed, Home(folder), folder).run
    # Tokens as often as words are: of rank r in proportion to 1 / r.
    weights = 1.0 / np.arange(1, asked.model.vocabulary + 1)
    drawn = np.random.default_rng(SEED).choice(
        asked.model.vocabulary, (pretrain.steps, pretrain.batch, pretrain.length + 1), p=weights / weights.sum()
    )
    np.save(folder / "data.npy", drawn.astype(np.int64))
    return {
        "run": asked.model_dump(mode="json"),
        "shape": asked.model.model_dump(),
        "adamw": asked.train.adamw.model_dump(),
        "clip": asked.train.clip,
        "threads": threads,
        "compiled": pretrain.compiled,
        "fabric_precision": "bf16-mixed" if pretrain.precision == "bfloat16" else "32-true",
        "data": str(folder / "data.npy"),
        "folder": str(folder / "trainer"),
        "timeout_s": pretrain.timeout_s,
        "path": str(folder / "task.json"),
    }


def _measured(command: list[str], task: dict[str, Any], pretrain: PretrainPlan) -> Steps:
    path = Path(task["path"])
    path.write_text(json.dumps(task), encoding="utf-8")
    finished = run([*command, str(path)], clean_environment(), timeout=pretrain.timeout_s)
    told = json.loads(finished.output.strip().splitlines()[-1])
    seconds = told["seconds"][pretrain.warm_steps :]
    shape = Run.model_validate(task["run"]).model
    share = 0.0
    if "peaks" in told:
        peaks = told["peaks"][pretrain.warm_steps :]
        operations = needed(shape, pretrain.batch)
        share = median(operations / each / peak for each, peak in zip(seconds, peaks, strict=True))
    tokens = pretrain.batch * pretrain.length / median(seconds)
    return Steps(tokens, finished.peak_bytes, told["losses"][-1], share)


def _tokens(found: list[Steps]) -> float:
    return median(each.tokens for each in found)
