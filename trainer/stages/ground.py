"""What a run trains over, as the decoder's frozen weights."""

from __future__ import annotations

from trainer.model import reading
from trainer.pipeline.artifacts import BaseWeights
from trainer.precision import compute_dtype
from trainer.run_files import Inputs


def read_ground(inputs: Inputs, base: BaseWeights, *, shared_out: bool = False) -> reading.BaseWeights:
    """The base, and over it the adapters that are not trained any more; ``shared_out`` and errors: ``read_base``."""
    training = inputs.training
    adapters = [(adapter.path, adapter.scale) for adapter in base.adapters]
    dtype = compute_dtype(training.precision)
    return reading.read_base(base.path, dtype, training.frozen, adapters, shared_out=shared_out)
