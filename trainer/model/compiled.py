"""The decoder's work between its products as compiled code (native/), where set-up could compile it."""

from __future__ import annotations

import ctypes
import functools
import importlib.util

import torch

MODULE = "trainer.model.native.library"
FORMATS = {torch.float32: "float32", torch.bfloat16: "bfloat16"}
# The arguments of each function: p a tensor or none, n a whole number, f a fraction.
KINDS = {"p": ctypes.c_void_p, "n": ctypes.c_int64, "f": ctypes.c_float}
ARGUMENTS = {
    "norm": "pppfnnpppp",
    "norm_back": "pppppnnpp",
    "gate": "pnnnp",
    "gate_back": "ppnnnpp",
    "to_rows": "pnpnnnnppfp",
    "from_rows": "pppnnnnppfp",
    "attend": "pppfnnnn",
    "attend_back": "ppppfnnnn",
    "spread": "pfnnpppp",
    "draw": "pppnn",
    "logits": "ppnnnp",
}
# What only processors with instructions for it have.
ONLY_SOME = {"logits"}


class Compiled:
    """The functions of native/ for products in ``dtype``, each by its name.

    A tensor that is given is dense and of the format that the source names; nobody looks.
    """

    def __init__(self, library: ctypes.CDLL, dtype: torch.dtype) -> None:
        self.dtype = dtype
        self._functions = {
            name: ctypes.CFUNCTYPE(None, *(KINDS[kind] for kind in kinds))(address)
            for name, kinds in ARGUMENTS.items()
            if (address := _address(library, name, dtype))
        }

    def __contains__(self, name: str) -> bool:
        return name in self._functions

    def __call__(self, name: str, *given: torch.Tensor | float | None) -> None:
        """Call one of them; other threads of Python run meanwhile."""
        self._functions[name](*(each.data_ptr() if isinstance(each, torch.Tensor) else each for each in given))


def compiled(dtype: torch.dtype, device: torch.device) -> Compiled | None:
    """The functions for tensors of this format there; None where there are none, and PyTorch's own have to do."""
    library = _library()
    return Compiled(library, dtype) if library and dtype in FORMATS and device.type == "cpu" else None


@functools.cache
def _library() -> ctypes.CDLL | None:
    spec = importlib.util.find_spec(MODULE)
    return ctypes.CDLL(spec.origin) if spec and spec.origin else None


def _address(library: ctypes.CDLL, name: str, dtype: torch.dtype) -> int:
    """0 where the library has no such function, although it may have none."""
    symbol = f"{name}_{FORMATS[dtype]}"
    if name in ONLY_SOME and not hasattr(library, symbol):
        return 0
    return ctypes.c_void_p.in_dll(library, symbol).value or 0
