"""Weights of every kind come out of a file as the reference in plain Python gives them, to the last bit."""

from __future__ import annotations

import gguf
import numpy as np
import pytest
from gguf.quants import dequantize

from engine.dequantise import dequantise
from engine.errors import EngineFailed
from engine.gguf_reader import BLOCKS

Kind = gguf.GGMLQuantizationType
KINDS = [
    Kind.F32, Kind.F16, Kind.BF16, Kind.Q4_0, Kind.Q4_1, Kind.Q5_0, Kind.Q5_1, Kind.Q8_0,
    Kind.Q2_K, Kind.Q3_K, Kind.Q4_K, Kind.Q5_K, Kind.Q6_K, Kind.IQ4_NL, Kind.IQ4_XS,
    Kind.IQ2_XXS, Kind.IQ2_XS, Kind.IQ2_S, Kind.IQ3_XXS, Kind.IQ3_S, Kind.IQ1_S, Kind.IQ1_M,
    Kind.TQ1_0, Kind.TQ2_0, Kind.MXFP4,
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_any_bytes_are_the_weights_that_the_reference_reads(kind: gguf.GGMLQuantizationType) -> None:
    weights, size = BLOCKS[kind]
    raw = np.random.default_rng(kind).integers(0, 256, size=(8, 4096 // weights * size), dtype=np.uint8)
    found = np.empty((8, 4096), dtype=np.float32)
    dequantise(raw, kind, found)
    with np.errstate(all="ignore"):  # any bytes are also infinities and no numbers
        expected = dequantize(raw, kind)
    assert np.array_equal(found, expected, equal_nan=True)
    assert np.isfinite(found).mean() > 0.5


def test_a_kind_that_no_models_weights_have_is_refused() -> None:
    with pytest.raises(EngineFailed):
        dequantise(np.zeros(292, dtype=np.uint8), Kind.Q8_K, np.empty(256, dtype=np.float32))


def test_too_few_bytes_are_refused_before_they_are_read() -> None:
    with pytest.raises(ValueError, match="17 bytes for 32 weights"):
        dequantise(np.zeros(17, dtype=np.uint8), Kind.Q4_0, np.empty(32, dtype=np.float32))
