"""What a run trains over, as the decoder's frozen weights."""

from __future__ import annotations

from trainer.model.reading import BaseWeights, read_base
from trainer.precision import compute_dtype
from trainer.run_files import Inputs


def read_ground(inputs: Inputs, *, shared_out: bool = False) -> BaseWeights:
    """The base, and over it the adapters that are not trained any more; ``shared_out`` and errors: ``read_base``."""
    training = inputs.training
    adapters = [(adapter.path, adapter.scale) for adapter in inputs.beneath]
    dtype = compute_dtype(training.precision)
    return read_base(inputs.base, dtype, training.frozen, adapters, shared_out=shared_out)
