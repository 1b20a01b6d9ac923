"""llama.cpp itself, loaded without what llama-cpp-python adds to it, and its log turned into a Python log."""

from __future__ import annotations

import collections
import ctypes
import functools
import importlib
import importlib.util
import logging
import os
import sys
import threading
import types
from typing import Any

PACKAGE = "llama_cpp"
BINDINGS = "llama_cpp.llama_cpp"
# ggml_log_level: debug, info, warn, error; what llama.cpp calls info is detail to us.
LEVELS = {1: logging.DEBUG, 2: logging.DEBUG, 3: logging.WARNING, 4: logging.ERROR}
KEPT_COMPLAINTS = 8

log = logging.getLogger("enlace.native")


class _Complaints(threading.local):
    """What llama.cpp logged as errors: to each thread what it complained of when that one called."""

    def __init__(self) -> None:
        self.lines: collections.deque[str] = collections.deque(maxlen=KEPT_COMPLAINTS)


_complaints = _Complaints()


def set_thread_spins(spins: int) -> None:
    """How often a thread looks for the others before it sleeps; call before the first ``library()``.

    OpenMP's own choice is 300,000: on a machine that does anything else, the threads then wait for each other
    through whole time slices. Measured on two busy cores: under 1 token/s against 11 with 500 spins; on two quiet
    ones little difference above 450 (docs/decisions/threads-that-sleep.md).
    """
    os.environ.setdefault("GOMP_SPINCOUNT", str(spins))


@functools.cache
def library() -> Any:
    """The ctypes bindings of llama.cpp, ready for use.

    ``import llama_cpp`` also imports numpy, jinja2, diskcache and a server's types: ten times the cost of the
    bindings alone. So the package is entered in ``sys.modules`` empty, with its search path, and only the bindings
    are imported. Native messages go to the logger ``enlace.native`` by callback; file descriptors are left alone.
    """
    if PACKAGE not in sys.modules:
        spec = importlib.util.find_spec(PACKAGE)
        if spec is None or spec.submodule_search_locations is None:
            raise ModuleNotFoundError(PACKAGE)
        package = types.ModuleType(PACKAGE)
        package.__path__ = list(spec.submodule_search_locations)
        package.__spec__ = spec
        sys.modules[PACKAGE] = package
    bindings = importlib.import_module(BINDINGS)
    bindings.llama_log_set(_log_callback(bindings), ctypes.c_void_p(0))
    bindings.llama_backend_init()
    return bindings


def forget_complaints() -> None:
    """What follows in this thread has nothing to do with what went wrong before."""
    _complaints.lines.clear()


def last_complaint(otherwise: str) -> str:
    """What llama.cpp first logged as an error in this thread since then, for the reason of a failure; forgets it."""
    text = _complaints.lines[0] if _complaints.lines else otherwise
    _complaints.lines.clear()
    return text


@functools.cache
def _log_callback(bindings: Any) -> Any:
    """The callback, cached because native code keeps its address for ever."""

    def write(level: int, text: bytes, _data: Any) -> None:
        line = text.decode("utf-8", errors="replace").strip()
        python_level = LEVELS.get(level)
        if line and python_level is not None:
            if python_level == logging.ERROR:
                _complaints.lines.append(line)
            log.log(python_level, line)

    return bindings.llama_log_callback(write)
