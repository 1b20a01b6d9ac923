"""Quantised weights as numbers, by the code with which llama.cpp itself reads them."""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any

from engine.errors import EngineFailed
from engine.gguf_reader import BLOCKS
from engine.library import library

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FLOAT32 = 0
_ToFloat = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


class _Traits(ctypes.Structure):
    """ggml_type_traits (ggml.h)."""

    _fields_ = (
        ("type_name", ctypes.c_char_p),
        ("blck_size", ctypes.c_int64),
        ("blck_size_interleave", ctypes.c_int64),
        ("type_size", ctypes.c_size_t),
        ("is_quantized", ctypes.c_bool),
        ("to_float", ctypes.c_void_p),
        ("from_float_ref", ctypes.c_void_p),
    )


def dequantise(raw: npt.NDArray[np.uint8], kind: int, out: npt.NDArray[np.float32]) -> None:
    """Write the weights in ``raw``, whole blocks of the ggml_type ``kind``, to ``out``; both lie in one piece.

    Other threads of Python run meanwhile. Raises EngineFailed for a kind that no model's weights have.
    """
    weights, size = BLOCKS[kind]
    if raw.nbytes * weights != out.size * size or not (raw.flags.c_contiguous and out.flags.c_contiguous):
        raise ValueError(f"{raw.nbytes} bytes for {out.size} weights")
    if kind == FLOAT32:
        out.reshape(-1).view(raw.dtype)[:] = raw.reshape(-1)
    else:
        _to_float(kind)(raw.ctypes.data, out.ctypes.data, out.size)


@functools.cache
def _to_float(kind: int) -> Any:
    # libllama's handle finds what it is linked with: ggml.
    find = library()._lib.ggml_get_type_traits
    find.argtypes, find.restype = [ctypes.c_int], ctypes.POINTER(_Traits)
    traits: _Traits = find(kind).contents
    # The layout of a type that was read from the wrong place would not be the known one.
    if (traits.blck_size, traits.type_size) != BLOCKS[kind] or not traits.to_float:
        raise EngineFailed(reason=f"llama.cpp reads no weights of the type {kind}")
    return _ToFloat(traits.to_float)
