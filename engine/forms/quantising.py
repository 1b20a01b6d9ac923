"""A model's file written again in another form, by llama.cpp itself."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path

from engine.errors import FormNotMade
from engine.library import forget_complaints, last_complaint, library

# ggml_type of each name, and the llama_ftype of a whole file of it (llama.h).
TENSOR_TYPES = {"f16": 1, "q4_0": 2, "q4_1": 3, "q5_0": 6, "q5_1": 7, "q8_0": 8, "iq4_nl": 20}
FILE_TYPES = {"f16": 1, "q4_0": 2, "q4_1": 3, "q8_0": 7, "q5_0": 8, "q5_1": 9, "iq4_nl": 25}
# The embedding is read by every token, and where it is tied it is the head as well: it costs little to keep it exact.
EMBEDDING_TYPE = TENSOR_TYPES["q8_0"]
EIGHT_BITS_OR_MORE = ("f16", "q8_0")


def quantise(source: Path, target: Path, weight_type: str, tensors: Mapping[str, str], threads: int) -> None:
    """Write ``source`` to ``target`` with its weights as ``weight_type``, those matching ``tensors`` in their own way.

    The embedding stays at eight bits. What is quantised already is quantised again from its values. ``target`` may
    be half written where this fails. Raises FormNotMade.
    """
    lib = library()
    parameters = lib.llama_model_quantize_default_params()
    parameters.ftype = FILE_TYPES[weight_type]
    parameters.nthread = threads
    parameters.allow_requantize = True
    if weight_type not in EIGHT_BITS_OR_MORE:
        parameters.token_embedding_type = parameters.output_tensor_type = EMBEDDING_TYPE
    if tensors:
        kind = lib.llama_model_tensor_override
        overrides = (kind * (len(tensors) + 1))()
        for place, (pattern, name) in enumerate(tensors.items()):
            overrides[place].pattern, overrides[place].type = pattern.encode(), TENSOR_TYPES[name]
        # Ended by an entry without a pattern.
        parameters.tt_overrides = ctypes.cast(overrides, ctypes.POINTER(kind))
    forget_complaints()
    if lib.llama_model_quantize(os.fsencode(source), os.fsencode(target), ctypes.byref(parameters)):
        raise FormNotMade(path=str(source), reason=last_complaint("llama.cpp does not write it"))
    with target.open("rb") as file:
        os.fsync(file.fileno())
