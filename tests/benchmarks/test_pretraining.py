"""The operations that a step of a pretraining needs are those of its products."""

from __future__ import annotations

import numpy as np
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.pretraining_steps import needed
from tests.trainer.pretraining.tiny import one_thread, tiny
from trainer.pretraining.training import Training


def test_a_steps_operations_are_those_that_torch_counts_in_it() -> None:
    run = tiny("train.micro_batch=4")
    training, shape = Training(run), run.model
    rows = np.zeros((4, shape.context + 1), dtype=np.int64)
    with one_thread(), FlopCounterMode(display=False) as counted:
        training.gradient(rows)
    # Every query with every key of its sequence: a sequence of one block of queries is multiplied so.
    square = 2 * 4 * shape.context * shape.layers * shape.heads * shape.head_size * shape.context
    # Half of each of six squares is needed; the scores are made once more for the gradient; torch does not see the two
    # products that add to what is there.
    assert counted.get_total_flops() == needed(shape, 4) + 3 * square + square - 2 * square
