"""The least memory that a run can take, by arithmetic: what is above it cannot fit, and need not be tried."""

from __future__ import annotations

from typing import Final

from configs.pretraining.schema import Run

# Bytes of a trained number, of its gradient, and of each of its moments.
_FLOAT32: Final = 4
_BYTES: Final = {"float32": _FLOAT32, "float16": 2, "bfloat16": 2}


def state_bytes(run: Run) -> int:
    """Weights, gradients and moments of each process: AdamW keeps two moments of a number, Muon one."""
    shape = run.model
    embedding = shape.vocabulary * shape.width
    matrices = shape.parameters - embedding
    numbers = 4 * embedding + (3 if run.train.optimiser == "muon" else 4) * matrices
    shared = run.hardware.processes if run.hardware.weights == "shared_out" else 1
    return _FLOAT32 * numbers // shared


def sequence_bytes(run: Run) -> int:
    """What must be kept of one sequence until its gradients are found: each layer's input and products.

    Norms, attention and the unit between the products keep more.
    """
    shape = run.model
    of_a_token = shape.width + (shape.heads + 2 * shape.kv_heads) * shape.head_size + 2 * shape.feed_forward
    return shape.layers * of_a_token * shape.context * _BYTES[run.hardware.precision]


def with_layers(run: Run, layers: int) -> Run:
    """The same run with a model of so many layers."""
    return run.model_copy(update={"model": run.model.model_copy(update={"layers": layers})})


def with_micro_batch(run: Run, micro_batch: int) -> Run:
    """The same run with so many sequences at once: the same result."""
    return run.model_copy(update={"train": run.train.model_copy(update={"micro_batch": micro_batch})})
